/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Connection for requests, with many exchanges in flight, by the carrier that the scheme of its address names.
 */
#ifndef CLIENT_CONNECTION_H
#define CLIENT_CONNECTION_H

#include "carrier.h"

/* Dials `url` and waits for the connection, at most `connect_timeout` seconds. A reply longer than `max_reply_bytes` is
 * refused. */
dyn_client_status connection_open(const char *url, double connect_timeout, size_t max_reply_bytes, connection **opened,
                                  dyn_client_error *error);

/* Ends all exchanges, also later ones, with CANCELLED. Returns when none is waiting. Thread-safe. */
void connection_abort(connection *aborted);

/* Ends the exchange under way whose request has this content with CANCELLED; other exchanges go on. Does nothing where
 * there is none, or where it is between two operations (the caller tries again). Thread-safe. */
void connection_give_up(connection *used, const void *content);

/* Closes the connection. No exchange may be in progress. NULL is ignored. */
void connection_close(connection *closed);

/* Returns the address of the connection. */
const char *connection_url(const connection *used);

/* Returns the connect timeout of the connection, s. */
double connection_timeout(const connection *used);

/* Returns whether several daemons may answer the requests of the connection. */
bool connection_is_shared(const connection *used);

/* Returns whether messages without a reply use the connection's own server (one_way.h). */
bool connection_has_one_way(const connection *used);

/* Returns the bytes that a message may have where several daemons may answer, or 0 where one daemon answers. */
size_t connection_most_bytes(const connection *used);

/* Sends a request and waits for its reply, at most `timeout` seconds. Thread-safe.
 *
 * If the connection is lost, waits for the next one (at most the connect timeout) and sends the request again, a few
 * times. UNREACHABLE: there is no connection, or each attempt lost it. TIMEOUT: connected, but no reply. CANCELLED: the
 * connection was aborted. */
dyn_client_status connection_exchange(connection *used, const outgoing *request, double timeout, incoming *reply,
                                      dyn_client_error *error);

#endif
