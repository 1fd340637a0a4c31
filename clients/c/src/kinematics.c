/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Requests poses and Jacobians of frames.
 */
#include "call.h"

#include "error.h"
#include "fast_channel.h"
#include "sized.h"
#include "spread.h"
#include "wire.h"

/* Field numbers: results of EvaluateReply, blocks of QuantityResult, values of Block. */
enum { RESULTS = 4, BLOCKS = 7, VALUES = 5 };

/* The two blocks of a quantity: the number of values of one sample, and the output array, which holds the samples of
 * the frames one after another. */
typedef struct wanted {
    const double *q;
    Dynamics__V1__QuantityRequest *quantity;
    size_t samples, width[2];
    double *to[2];
} wanted;

/* Copies both blocks of the serialized result of one frame to the outputs. Returns false if the result does not have
 * two blocks of the wanted lengths. */
static bool read_result(const wire_field *result, size_t frame, sample_range range, const wanted *want) {
    wire_reader reader = {.at = result->bytes, .end = result->bytes + result->size};
    wire_field field;
    size_t block = 0;
    while (wire_next(&reader, &field)) {
        if (field.number != BLOCKS) {
            continue;
        }
        size_t width = block < 2 ? want->width[block] : 0;
        if (field.type != WIRE_BYTES || block == 2 ||
            !wire_read_doubles(field.bytes, field.size, VALUES, range.count * width,
                               want->to[block] + (frame * want->samples + range.first) * width)) {
            return false;
        }
        block++;
    }
    return !reader.malformed && block == 2;
}

/* Copies the results of a reply, one for each frame in order, to the outputs. Returns false if their number or lengths
 * differ from those wanted. */
static bool read_results(const call_reply *answer, sample_range range, const wanted *want) {
    wire_reader reader = {.at = answer->result, .end = answer->result + answer->result_size};
    wire_field field;
    size_t frame = 0;
    while (wire_next(&reader, &field)) {
        if (field.number != RESULTS) {
            continue;
        }
        if (field.type != WIRE_BYTES || frame == want->quantity->n_frames || !read_result(&field, frame, range, want)) {
            return false;
        }
        frame++;
    }
    return !reader.malformed && frame == want->quantity->n_frames;
}

/* Evaluates one quantity of frames for some samples, and copies its two blocks to the outputs. */
static dyn_client_status ask_frames(dyn_client *client, const query_parts *parts, size_t first, void *context,
                                    dyn_client_error *error) {
    const wanted *want = context;
    Dynamics__V1__QuantityRequest *quantity = want->quantity;
    if (quantity->n_frames == 0 || !quantity->frames) {
        return fail(error, DYN_CLIENT_INVALID_ARGUMENT, "frames", "no frames: name one or more");
    }
    if (!want->to[0] || !want->to[1]) {
        return fail(error, DYN_CLIENT_INVALID_ARGUMENT, "output", "an output is NULL");
    }
    Dynamics__V1__EvaluateRequest body = DYNAMICS__V1__EVALUATE_REQUEST__INIT;
    Dynamics__V1__Request request = DYNAMICS__V1__REQUEST__INIT;
    const sample_range range = {first, parts->source.samples, want->samples};
    body.query = (Dynamics__V1__Query *)&parts->query;
    body.q = sample_rows(want->q, first, parts->source.nq, range.count, &body.n_q);
    body.n_quantities = 1;
    body.quantities = &quantity;
    call_set_method(&request, DYNAMICS__V1__REQUEST__METHOD_EVALUATE, &body.base);
    const fast_target targets[] = {
        {want->to[0] + first * want->width[0], range.count * want->width[0]},
        {want->to[1] + first * want->width[1], range.count * want->width[1]},
    };
    call_reply answer;
    dyn_client_status status;
    if (fast_channel_compute(client, &request, &parts->terms, targets, 2, &status, error)) {
        return status;
    }
    status = call(client, &request, parts->terms, &answer, error);
    if (status != DYN_CLIENT_OK) {
        return status;
    }
    if (!read_results(&answer, range, want)) {
        status = fail_bad_reply(error, "the result does not hold as many values as asked for");
    }
    call_reply_free(&answer);
    return status;
}

/* Evaluates one quantity of frames. The blocks have `rows` numbers of a sample, or rows x nv if `has_columns`. */
static dyn_client_status call_frames(dyn_client *client, const dyn_client_query *query, wanted *want, bool has_columns,
                                     dyn_client_error *error) {
    dyn_client_query known;
    dyn_client_status status = sized_read("query", query, sizeof known, &known, error);
    if (status != DYN_CLIENT_OK) {
        return status;
    }
    want->samples = known.samples;
    for (size_t k = 0; k < 2 && has_columns; k++) {
        want->width[k] *= known.nv;
    }
    const spread_call asked = {
        query,
        want->q,
        {.rows = (has_columns ? 6 : 1) * want->quantity->n_frames, .numbers = 7 * want->quantity->n_frames},
        ask_frames,
        want,
        {{NULL, 0}}};
    return spread(client, &asked, error);
}

dyn_client_status dyn_client_poses(dyn_client *client, const dyn_client_query *query, const double *q,
                                   size_t frame_count, const char *const *frames, double *position, double *quaternion,
                                   dyn_client_error *error) {
    Dynamics__V1__QuantityRequest pose = DYNAMICS__V1__QUANTITY_REQUEST__INIT;
    pose.quantity = DYNAMICS__V1__QUANTITY__QUANTITY_FRAME_POSE;
    pose.n_frames = frame_count;
    pose.frames = (char **)frames;
    wanted want = {.q = q, .quantity = &pose, .width = {3, 4}, .to = {position, quaternion}};
    return call_frames(client, query, &want, false, error);
}

dyn_client_status dyn_client_jacobians(dyn_client *client, const dyn_client_query *query, const double *q,
                                       size_t frame_count, const char *const *frames,
                                       dyn_client_reference_frame reference_frame, double *linear, double *angular,
                                       dyn_client_error *error) {
    Dynamics__V1__QuantityRequest jacobian = DYNAMICS__V1__QUANTITY_REQUEST__INIT;
    jacobian.quantity = DYNAMICS__V1__QUANTITY__QUANTITY_FRAME_JACOBIAN;
    jacobian.n_frames = frame_count;
    jacobian.frames = (char **)frames;
    jacobian.reference_frame = (Dynamics__V1__ReferenceFrame)reference_frame;
    wanted want = {.q = q, .quantity = &jacobian, .width = {3, 3}, .to = {linear, angular}};
    return call_frames(client, query, &want, true, error);
}
