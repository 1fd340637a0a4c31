/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The carrier for messages that are not answered: nng SUB and PUSH over a connection of their own. For one thread.
 */
#ifndef CLIENT_ONE_WAY_H
#define CLIENT_ONE_WAY_H

#include "connection.h"

typedef struct one_way one_way;

/* Dials the first of the addresses that takes a connection, those with the scheme of `url` first, and waits for each at
 * most `timeout` seconds. With topics (`topic_count` of them) it subscribes to these, else it pushes. */
dyn_client_status one_way_open(size_t address_count, char *const *addresses, const char *url, size_t topic_count,
                               char *const *topics, double timeout, one_way **opened, dyn_client_error *error);
void one_way_close(one_way *closed);

/* Waits for a message, at most `timeout` seconds. */
dyn_client_status one_way_receive(one_way *used, double timeout, incoming *message, dyn_client_error *error);

/* Sends a message, at most after `timeout` seconds. */
dyn_client_status one_way_send(one_way *used, const outgoing *message, double timeout, dyn_client_error *error);

#endif
