/*
 * Any bytes as a request: the service answers each exactly once, with a Reply that can be decoded, that has a result if
 * and only if its code is OK, and whose words are UTF-8.
 */
#include <stdlib.h>

#include "methods/text.h"
#include "service_bench.h"
#include "target.h"

/* What holds of every answer. Returns whether the store may have changed. */
static bool check_reply(const kept_call *call, const Dynamics__V1__Request *request) {
    require(call->answers == 1, "each request is answered once");
    Dynamics__V1__Reply *reply = dynamics__v1__reply__unpack(NULL, call->size, call->reply);
    require(reply && reply->status, "the answer is a Reply with a status");
    bool is_ok = reply->status->code == DYNAMICS__V1__CODE__CODE_OK;
    require(is_ok == (reply->result_case != DYNAMICS__V1__REPLY__RESULT__NOT_SET), "there is a result if it is OK");
    require(is_ok == (reply->status->message[0] == '\0'), "errors have a message");
    require(text_is_utf8(reply->status->message) && text_is_utf8(reply->status->field), "words are UTF-8");
    require(reply->status->code != DYNAMICS__V1__CODE__CODE_INTERNAL, "there are no internal errors");
    require(!request || reply->id == request->id, "the answer has the request's id");
    require(request || !is_ok, "what is no request is refused");
    require(!is_ok || (int)reply->result_case == (int)request->method_case, "the result is the method's");
    bool is_change = reply->result_case == DYNAMICS__V1__REPLY__RESULT_LOAD_MODEL ||
                     reply->result_case == DYNAMICS__V1__REPLY__RESULT_DERIVE_MODEL ||
                     reply->result_case == DYNAMICS__V1__REPLY__RESULT_UNLOAD_MODEL;
    dynamics__v1__reply__free_unpacked(reply, NULL);
    return is_change;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static bench b;
    if (!b.service) {
        bench_start(&b, "");
    }
    kept_call call;
    bench_handle(&b, data, size, &call);
    Dynamics__V1__Request *request = dynamics__v1__request__unpack(NULL, size, data);
    if (check_reply(&call, request)) {
        bench_stop(&b);
    }
    dynamics__v1__request__free_unpacked(request, NULL);
    free(call.reply);
    return 0;
}
