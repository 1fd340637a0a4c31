/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Connections for requests over nng: an nng REQ socket with many exchanges in flight.
 */
#ifndef CLIENT_NNG_CONNECTION_H
#define CLIENT_NNG_CONNECTION_H

#include "carrier.h"

extern const connection_carrier nng_connections;

/* Returns whether the daemon of a connection over nng is connected. */
bool nng_connection_is_up(connection *used);

/* Writes a request into a new message of nng. Returns NULL when out of memory. The caller owns the message.
 *
 * This function allocates all messages that the client sends. nng 1.5.2 loses a message if the daemon closes the
 * connection at that moment; the leak checker's suppression in tests/system/closed_by_peer.supp names this function. */
struct nng_msg *outgoing_message(const outgoing *request);

#endif
