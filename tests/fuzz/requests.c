/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fuzz target: passes any bytes to the service as a request. The service answers exactly once, with a Reply that can be
 * decoded, that has a result if and only if its code is OK, and whose texts are printable.
 */
#include <stdlib.h>

#include "service_bench.h"
#include "target.h"

/* Checks the reply. Returns true if it reports that a model was loaded, derived or unloaded. `request` is NULL if the
 * bytes were no request. */
static bool check_reply(const stored_call *stored, const Dynamics__V1__Request *request) {
    Dynamics__V1__Reply *reply = bench_reply(stored, request);
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
    stored_call stored;
    bench_handle(&b, data, size, &stored);
    Dynamics__V1__Request *request = dynamics__v1__request__unpack(NULL, size, data);
    if (check_reply(&stored, request)) {
        bench_stop(&b);
    }
    dynamics__v1__request__free_unpacked(request, NULL);
    free(stored.reply);
    return 0;
}
