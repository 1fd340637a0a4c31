/* SPDX-License-Identifier: BSD-2-Clause */
/* Lists the requests that took long. */
#include "methods/methods.h"
#include "observe/slow_log.h"

static void describe(call *c, const slow_request *from, Dynamics__V1__SlowRequest *to) {
    dynamics__v1__slow_request__init(to);
    to->number = from->number;
    to->stamp_ns = from->stamp_ns;
    to->request = from->request;
    to->method = (char *)(uintptr_t)from->method;
    to->object = call_string(c, from->object);
    to->peer = call_string(c, from->peer);
    to->caller = call_string(c, from->caller);
    to->code = (Dynamics__V1__Code)from->code;
    to->time = (double)from->time / 1e9;
    to->waiting_time = (double)from->waits / 1e9;
    to->samples = from->samples;
    to->request_bytes = from->bytes_in;
    to->reply_bytes = from->bytes_out;
}

void method_list_slow_requests(call *c) {
    uint32_t count = c->request->list_slow_requests->count;
    Dynamics__V1__ListSlowRequestsReply *reply = create_list_slow_requests_reply(c);
    slow_log *slow = c->service->slow;
    if (!reply || !slow) {
        return;
    }
    slow_request *found = call_allocate(c, SLOW_LOG_ENTRIES, sizeof *found);
    Dynamics__V1__SlowRequest *entries = call_allocate(c, SLOW_LOG_ENTRIES, sizeof *entries);
    reply->requests = call_allocate(c, SLOW_LOG_ENTRIES, sizeof *reply->requests);
    if (!found || !entries || !reply->requests) {
        return;
    }
    size_t held = slow_log_read(slow, count > 0 ? count : SLOW_LOG_ENTRIES, found, &reply->total);
    for (size_t i = 0; i < held && !call_has_ended(c); i++) {
        describe(c, &found[i], &entries[i]);
        reply->requests[reply->n_requests++] = &entries[i];
    }
}
