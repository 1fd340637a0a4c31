/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Requests poses and Jacobians of frames.
 */
#include "call.h"

#include "error.h"
#include "query.h"
#include "wire.h"

/* Field numbers: results of EvaluateReply, blocks of QuantityResult, values of Block. */
enum { RESULTS = 4, BLOCKS = 7, VALUES = 5 };

/* The two blocks of a quantity: the number of values of one frame, and the output array, which holds the values of all
 * frames one after another. */
typedef struct wanted {
    size_t count[2];
    double *to[2];
} wanted;

/* Copies both blocks of the serialized result of one frame to the outputs. Returns false if the result does not have
 * two blocks of the wanted lengths. */
static bool read_result(const wire_field *result, size_t frame, const wanted *want) {
    wire_reader reader = {.at = result->bytes, .end = result->bytes + result->size};
    wire_field field;
    size_t block = 0;
    while (wire_next(&reader, &field)) {
        if (field.number != BLOCKS) {
            continue;
        }
        if (field.type != WIRE_BYTES || block == 2 ||
            !wire_read_doubles(field.bytes, field.size, VALUES, want->count[block],
                               want->to[block] + frame * want->count[block])) {
            return false;
        }
        block++;
    }
    return !reader.malformed && block == 2;
}

/* Copies the results of a reply, one for each frame in order, to the outputs. Returns false if their number or lengths
 * differ from those wanted. */
static bool read_results(const call_reply *answer, size_t frame_count, const wanted *want) {
    wire_reader reader = {.at = answer->result, .end = answer->result + answer->result_size};
    wire_field field;
    size_t frame = 0;
    while (wire_next(&reader, &field)) {
        if (field.number != RESULTS) {
            continue;
        }
        if (field.type != WIRE_BYTES || frame == frame_count || !read_result(&field, frame, want)) {
            return false;
        }
        frame++;
    }
    return !reader.malformed && frame == frame_count;
}

/* Evaluates one quantity of frames and copies its two blocks to the outputs. */
static dyn_client_status call_frames(dyn_client *client, const query_parts *parts, const double *q,
                                     Dynamics__V1__QuantityRequest *quantity, const wanted *want,
                                     dyn_client_error *error) {
    if (quantity->n_frames == 0 || !quantity->frames) {
        return fail(error, DYN_CLIENT_INVALID_ARGUMENT, "frames", "no frames: name one or more");
    }
    if (!want->to[0] || !want->to[1]) {
        return fail(error, DYN_CLIENT_INVALID_ARGUMENT, "output", "an output is NULL");
    }
    Dynamics__V1__EvaluateRequest body = DYNAMICS__V1__EVALUATE_REQUEST__INIT;
    Dynamics__V1__Request request = DYNAMICS__V1__REQUEST__INIT;
    body.query = (Dynamics__V1__Query *)&parts->query;
    body.n_q = parts->q_count;
    body.q = (double *)q;
    body.n_quantities = 1;
    body.quantities = &quantity;
    call_set_method(&request, DYNAMICS__V1__REQUEST__METHOD_EVALUATE, &body.base);
    call_reply answer;
    dyn_client_status status = call(client, &request, parts->terms, &answer, error);
    if (status != DYN_CLIENT_OK) {
        return status;
    }
    if (!read_results(&answer, quantity->n_frames, want)) {
        status = fail_bad_reply(error, "the result does not hold as many values as asked for");
    }
    call_reply_free(&answer);
    return status;
}

dyn_client_status dyn_client_poses(dyn_client *client, const dyn_client_query *query, const double *q,
                                   size_t frame_count, const char *const *frames, double *position, double *quaternion,
                                   dyn_client_error *error) {
    query_parts parts;
    dyn_client_status status = query_parts_encode(client, query, q, &parts, error);
    if (status != DYN_CLIENT_OK) {
        return status;
    }
    const wanted want = {{3 * parts.source.samples, 4 * parts.source.samples}, {position, quaternion}};
    Dynamics__V1__QuantityRequest pose = DYNAMICS__V1__QUANTITY_REQUEST__INIT;
    pose.quantity = DYNAMICS__V1__QUANTITY__QUANTITY_FRAME_POSE;
    pose.n_frames = frame_count;
    pose.frames = (char **)frames;
    status = call_frames(client, &parts, q, &pose, &want, error);
    query_parts_free(&parts);
    return status;
}

dyn_client_status dyn_client_jacobians(dyn_client *client, const dyn_client_query *query, const double *q,
                                       size_t frame_count, const char *const *frames,
                                       dyn_client_reference_frame reference_frame, double *linear, double *angular,
                                       dyn_client_error *error) {
    query_parts parts;
    dyn_client_status status = query_parts_encode(client, query, q, &parts, error);
    if (status != DYN_CLIENT_OK) {
        return status;
    }
    const wanted want = {{3 * parts.v_count, 3 * parts.v_count}, {linear, angular}};
    Dynamics__V1__QuantityRequest jacobian = DYNAMICS__V1__QUANTITY_REQUEST__INIT;
    jacobian.quantity = DYNAMICS__V1__QUANTITY__QUANTITY_FRAME_JACOBIAN;
    jacobian.n_frames = frame_count;
    jacobian.frames = (char **)frames;
    jacobian.reference_frame = (Dynamics__V1__ReferenceFrame)reference_frame;
    status = call_frames(client, &parts, q, &jacobian, &want, error);
    query_parts_free(&parts);
    return status;
}
