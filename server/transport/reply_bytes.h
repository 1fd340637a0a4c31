/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Accounting of the bytes of replies, for every carrier.
 */
#ifndef SERVER_TRANSPORT_REPLY_BYTES_H
#define SERVER_TRANSPORT_REPLY_BYTES_H

#include "transport/transit.h"
#include "transport/transport.h"

/* Charges a reply's bytes to the budget. Bytes that the handler set aside are used first, and the rest of them is
 * released. Replies below TRANSIT_LARGE are free: a call, and a connection's sender, have at most one of them.
 * `charged` receives the bytes to release when the reply is gone. Returns false, without a change, if they do not
 * fit. */
static inline bool reply_bytes_charge(memory_budget *budget, transport_call *call, size_t size, size_t *charged) {
    size_t wanted = size < TRANSIT_LARGE ? 0 : size, set_aside = call->set_aside;
    if (wanted > set_aside && !memory_budget_reserve(budget, wanted - set_aside)) {
        return false;
    }
    if (set_aside > wanted) {
        memory_budget_release(budget, set_aside - wanted);
    }
    call->set_aside = 0;
    *charged = wanted;
    return true;
}

#endif
