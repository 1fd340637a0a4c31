/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Connection for messages without a reply: an nng SUB socket that receives, or an nng PUSH socket that sends. A
 * connection is for one thread.
 */
#ifndef CLIENT_ONE_WAY_H
#define CLIENT_ONE_WAY_H

#include "connection.h"

typedef struct one_way one_way;

/* Dials the addresses until one connects, those with the scheme of `url` first, and waits for each at most `timeout`
 * seconds. If `topic_count` > 0, opens a SUB socket and subscribes to the topics, otherwise a PUSH socket. */
dyn_client_status one_way_open(size_t address_count, char *const *addresses, const char *url, size_t topic_count,
                               char *const *topics, double timeout, one_way **opened, dyn_client_error *error);
void one_way_close(one_way *closed);

/* Waits for a message, at most `timeout` seconds. */
dyn_client_status one_way_receive(one_way *used, double timeout, incoming *message, dyn_client_error *error);

/* Makes a call of one_way_receive in another thread, and every later one, return with UNREACHABLE. */
void one_way_end(one_way *ended);

/* Ends the subscription to a topic, and drops messages of the topic that wait for the reader. */
void one_way_unsubscribe(one_way *used, const char *topic);

/* Sends a message. Waits at most `timeout` seconds until nng accepts the message. */
dyn_client_status one_way_send(one_way *used, const outgoing *message, double timeout, dyn_client_error *error);

#endif
