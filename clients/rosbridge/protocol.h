/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Dispatches the messages of a peer in the rosbridge protocol, version 2. Every message is answered.
 */
#ifndef ROSBRIDGE_PROTOCOL_H
#define ROSBRIDGE_PROTOCOL_H

#include "peer.h"

/* Handles one message: JSON text, or CBOR if it is binary. Errors are answered by a status. */
void protocol_handle(peer *from, const void *bytes, size_t size, bool is_binary);

#endif
