/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Subscription over a connection that is open already.
 */
#ifndef CLIENT_SUBSCRIBE_H
#define CLIENT_SUBSCRIBE_H

#include "one_way.h"

/* Returns a subscription that receives from `socket` and closes it at its end, or NULL when out of memory. */
dyn_client_subscription *subscription_of(one_way *socket);

#endif
