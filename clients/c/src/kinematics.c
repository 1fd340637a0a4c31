/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Poses and Jacobians of frames.
 */
#include "call.h"

#include "error.h"
#include "query.h"
#include "wire.h"

/* Field numbers: the frames of a reply, and what each holds. */
enum { FRAMES = 4, POSITION = 2, QUATERNION = 3, LINEAR = 4, ANGULAR = 5 };

/* Two fields of every frame to read, with their counts of values. */
typedef struct wanted {
    uint32_t first_field, second_field;
    size_t first_count, second_count;
    double *first, *second;
} wanted;

/* Reads the frames of a reply, in their order, one after the other into the outputs. */
static bool read_frames(const call_reply *answer, size_t frame_count, const wanted *want) {
    wire_reader reader = {.at = answer->result, .end = answer->result + answer->result_size};
    wire_field field;
    size_t frame = 0;
    while (wire_next(&reader, &field)) {
        if (field.number != FRAMES)
            continue;
        if (field.type != WIRE_BYTES || frame == frame_count)
            return false;
        if (!wire_read_doubles(field.bytes, field.size, want->first_field, want->first_count,
                               want->first + frame * want->first_count) ||
            !wire_read_doubles(field.bytes, field.size, want->second_field, want->second_count,
                               want->second + frame * want->second_count))
            return false;
        frame++;
    }
    return !reader.malformed && frame == frame_count;
}

/* Sends the request and reads what is wanted. */
static dyn_client_status call_frames(dyn_client *client, Dynamics__V1__KinematicsRequest *asked,
                                     const query_parts *parts, const double *q, double timeout, const wanted *want,
                                     dyn_client_error *error) {
    Dynamics__V1__Request request = DYNAMICS__V1__REQUEST__INIT;
    asked->query = (Dynamics__V1__Query *)&parts->query;
    asked->n_q = parts->q_count;
    asked->q = (double *)q;
    call_set_method(&request, DYNAMICS__V1__REQUEST__METHOD_KINEMATICS, &asked->base);
    call_reply answer;
    dyn_client_status status = call(client, &request, timeout, error, &answer);
    if (status != DYN_CLIENT_OK)
        return status;
    if (!read_frames(&answer, asked->n_frames, want))
        status = fail_bad_reply(error, "the result does not hold as many values as asked for");
    call_reply_free(&answer);
    return status;
}

/* The arguments that both functions have. */
static dyn_client_status check_frames(size_t frame_count, const char *const *frames, const wanted *want,
                                      dyn_client_error *error) {
    if (frame_count == 0 || frames == NULL)
        return fail(error, DYN_CLIENT_INVALID_ARGUMENT, "frames", "no frames: name one or more");
    if (want->first == NULL || want->second == NULL)
        return fail(error, DYN_CLIENT_INVALID_ARGUMENT, "output", "an output is NULL");
    return DYN_CLIENT_OK;
}

dyn_client_status dyn_client_poses(dyn_client *client, const dyn_client_query *query, const double *q,
                                   size_t frame_count, const char *const *frames, dyn_client_error *error,
                                   double *position, double *quaternion) {
    query_parts parts;
    dyn_client_status status = query_parts_take(client, query, q, error, &parts);
    if (status != DYN_CLIENT_OK)
        return status;
    wanted want = {.first_field = POSITION,
                   .second_field = QUATERNION,
                   .first_count = 3 * query->samples,
                   .second_count = 4 * query->samples,
                   .first = position,
                   .second = quaternion};
    Dynamics__V1__KinematicsRequest asked = DYNAMICS__V1__KINEMATICS_REQUEST__INIT;
    asked.n_frames = frame_count;
    asked.frames = (char **)frames;
    asked.poses = 1;
    status = check_frames(frame_count, frames, &want, error);
    if (status == DYN_CLIENT_OK)
        status = call_frames(client, &asked, &parts, q, query->timeout, &want, error);
    query_parts_free(&parts);
    return status;
}

dyn_client_status dyn_client_jacobians(dyn_client *client, const dyn_client_query *query, const double *q,
                                       size_t frame_count, const char *const *frames,
                                       dyn_client_reference_frame reference_frame, dyn_client_error *error,
                                       double *linear, double *angular) {
    query_parts parts;
    dyn_client_status status = query_parts_take(client, query, q, error, &parts);
    if (status != DYN_CLIENT_OK)
        return status;
    wanted want = {.first_field = LINEAR,
                   .second_field = ANGULAR,
                   .first_count = 3 * parts.v_count,
                   .second_count = 3 * parts.v_count,
                   .first = linear,
                   .second = angular};
    Dynamics__V1__KinematicsRequest asked = DYNAMICS__V1__KINEMATICS_REQUEST__INIT;
    asked.n_frames = frame_count;
    asked.frames = (char **)frames;
    asked.jacobians = 1;
    asked.reference_frame = (Dynamics__V1__ReferenceFrame)reference_frame;
    status = check_frames(frame_count, frames, &want, error);
    if (status == DYN_CLIENT_OK)
        status = call_frames(client, &asked, &parts, q, query->timeout, &want, error);
    query_parts_free(&parts);
    return status;
}
