/* SPDX-License-Identifier: BSD-2-Clause */
/* CancelRequest: cancels a waiting or running request of the same client. */
#include "methods/methods.h"

void method_cancel(call *c) {
    const Dynamics__V1__CancelRequest *r = c->request->cancel;
    if (r->client == 0) {
        call_blame(c, "client");
        call_fail(c, REASON_MISSING_VALUE,
                  "client is 0, which names no client; pass the number that the request to be ended carried");
        return;
    }
    Dynamics__V1__CancelReply *reply = create_cancel_reply(c);
    if (reply) {
        reply->found = service_cancel(c->owner, &c->transport->identity, r->client, r->id);
    }
}
