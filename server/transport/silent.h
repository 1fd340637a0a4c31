/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Closes connections that have not completed the handshake while descriptors are short.
 *
 * nng allows a new connection ten seconds for the handshake. Until then it counts for no limit, so a client that opens
 * enough of them uses up all descriptors. When three quarters of the descriptors are in use, such connections are shut
 * down at once.
 */
#ifndef SERVER_TRANSPORT_SILENT_H
#define SERVER_TRANSPORT_SILENT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

/* Returns whether a socket with this local address is a connection of the transport. */
typedef bool (*silent_owner)(void *context, const struct sockaddr_storage *local);

/* Returns whether more than three quarters of the descriptors below `bound` are in use. */
bool descriptors_are_short(int bound);

/* Shuts down connections with descriptors below `bound` whose peer has not completed the handshake: over tcp those that
 * have not sent a whole greeting, over ipc those that have not read the daemon's. Returns their number. */
size_t silent_shut_down(int bound, silent_owner is_ours, void *context);

#endif
