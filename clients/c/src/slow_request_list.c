/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lists the requests that took the daemon long.
 */
#include "requests.h"

#include <stdlib.h>

#include "error.h"
#include "wire.h"

/* Public result, with the reply that owns its strings. */
typedef struct slow_result {
    dyn_client_slow_requests requests;
    Dynamics__V1__ListSlowRequestsReply *reply;
    dyn_client_slow_request entries[];
} slow_result;

static dyn_client_slow_request read_entry(const Dynamics__V1__SlowRequest *from) {
    return (dyn_client_slow_request){
        .number = from->number,
        .stamp_ns = from->stamp_ns,
        .request = from->request,
        .method = from->method,
        .object = from->object,
        .peer = from->peer,
        .caller = from->caller,
        .code = dyn_client_status_name((dyn_client_status)from->code),
        .time = from->time,
        .waiting_time = from->waiting_time,
        .samples = from->samples,
        .request_bytes = from->request_bytes,
        .reply_bytes = from->reply_bytes,
    };
}

dyn_client_status dyn_client_list_slow_requests(dyn_client *client, size_t most, double timeout,
                                                dyn_client_slow_requests **requests, dyn_client_error *error) {
    *requests = NULL;
    if (!client) {
        return fail(error, DYN_CLIENT_INVALID_ARGUMENT, "client", "client is NULL");
    }
    Dynamics__V1__ListSlowRequestsRequest question = DYNAMICS__V1__LIST_SLOW_REQUESTS_REQUEST__INIT;
    Dynamics__V1__ListSlowRequestsReply *answer;
    question.count = most < UINT32_MAX ? (uint32_t)most : UINT32_MAX;
    dyn_client_status status = request_list_slow_requests(client, &question, within(timeout), &answer, error);
    if (status != DYN_CLIENT_OK) {
        return status;
    }
    slow_result *result = calloc(1, sizeof *result + answer->n_requests * sizeof *result->entries);
    if (!result) {
        dynamics__v1__list_slow_requests_reply__free_unpacked(answer, NULL);
        return fail_memory(error);
    }
    result->reply = answer;
    for (size_t i = 0; i < answer->n_requests; i++) {
        result->entries[i] = read_entry(answer->requests[i]);
    }
    result->requests = (dyn_client_slow_requests){answer->n_requests, result->entries, answer->total};
    *requests = &result->requests;
    return DYN_CLIENT_OK;
}

void dyn_client_slow_requests_free(dyn_client_slow_requests *requests) {
    slow_result *result = (slow_result *)requests;
    if (result) {
        dynamics__v1__list_slow_requests_reply__free_unpacked(result->reply, NULL);
        free(result);
    }
}
