/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Connection for messages without a reply, which receives those of topics or sends some, by the carrier of the client's
 * connection. A connection is for one thread.
 */
#ifndef CLIENT_ONE_WAY_H
#define CLIENT_ONE_WAY_H

#include "connection.h"

/* Opens a connection beside `via`. Over NATS it uses the same server. Otherwise it dials the addresses until one
 * connects, those with the scheme of `via` first, and waits for each at most `timeout` seconds. If `topic_count` > 0,
 * it subscribes to the topics, otherwise it sends. Where `via` is closed before it, no message arrives any more over
 * NATS. */
dyn_client_status one_way_open(connection *via, size_t address_count, char *const *addresses, size_t topic_count,
                               char *const *topics, double timeout, one_way **opened, dyn_client_error *error);

/* Closes the connection. NULL is ignored. */
void one_way_close(one_way *closed);

/* Waits for a message, at most `timeout` seconds: topic, zero byte, body. */
dyn_client_status one_way_receive(one_way *used, double timeout, incoming *message, dyn_client_error *error);

/* Parts of a message of a topic, in its bytes. */
typedef struct topic_message {
    const char *topic;    /* ends with the zero byte */
    const uint8_t *event; /* serialized Event */
    size_t size;          /* of the event */
} topic_message;

/* Divides a message at its first zero byte. Returns false if it has none. */
bool one_way_split(const incoming *message, topic_message *parts);

/* Makes a call of one_way_receive in another thread, and every later one, return with UNREACHABLE. */
void one_way_end(one_way *ended);

/* Ends the subscription to a topic, and drops messages of the topic that wait for the reader. */
void one_way_unsubscribe(one_way *used, const char *topic);

/* Sends a message. Waits at most `timeout` seconds until the carrier accepts the message. */
dyn_client_status one_way_send(one_way *used, const outgoing *message, double timeout, dyn_client_error *error);

#endif
