/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls methods whose result is an array of numbers.
 */
#include "values.h"

#include "error.h"
#include "fast_channel.h"
#include "wire.h"

dyn_client_status call_values(dyn_client *client, Dynamics__V1__Request__MethodCase method, ProtobufCMessage *body,
                              call_terms terms, uint32_t number, size_t count, double *values,
                              dyn_client_error *error) {
    if (!values) {
        return fail(error, DYN_CLIENT_INVALID_ARGUMENT, "output", "the output is NULL");
    }
    call_reply answer;
    Dynamics__V1__Request request = DYNAMICS__V1__REQUEST__INIT;
    call_set_method(&request, method, body);
    const fast_target target = {values, count};
    dyn_client_status status;
    if (fast_channel_compute(client, &request, &terms, &target, 1, &status, error)) {
        return status;
    }
    status = call(client, &request, terms, &answer, error);
    if (status != DYN_CLIENT_OK) {
        return status;
    }
    if (!wire_read_doubles(answer.result, answer.result_size, number, count, values)) {
        status = fail_bad_reply(error, "the result does not hold as many values as asked for");
    }
    call_reply_free(&answer);
    return status;
}
