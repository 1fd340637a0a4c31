/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rosbridge protocol, version 2: what a message of a peer asks for, and the answer that it always gets.
 */
#ifndef ROSBRIDGE_PROTOCOL_H
#define ROSBRIDGE_PROTOCOL_H

#include "peer.h"

/* Takes one message: JSON text, or CBOR where it is binary. What is wrong with it is answered by a status. */
void protocol_take(peer *from, const void *bytes, size_t size, bool is_binary);

#endif
