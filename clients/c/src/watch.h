/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Parts of the client's handle that watches use.
 */
#ifndef CLIENT_WATCH_H
#define CLIENT_WATCH_H

#include "one_way.h"

/* Return the address that the client is connected to, and its connect timeout, s. */
const char *client_url(const dyn_client *client);
double client_connect_timeout(const dyn_client *client);

#endif
