/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Connections that never greeted, when descriptors are short.
 *
 * nng gives a new connection ten seconds to greet. Until then it counts for no limit, and whoever opens enough of them
 * takes all descriptors. When three quarters of those are in use, such connections are shut down at once.
 */
#ifndef SERVER_TRANSPORT_SILENT_H
#define SERVER_TRANSPORT_SILENT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

/* Tells whether a socket with this local address is a connection of ours. */
typedef bool (*silent_owner)(void *context, const struct sockaddr_storage *local);

/* Returns whether more than three quarters of the descriptors below `bound` are in use. */
bool descriptors_are_short(int bound);

/* Shuts down connections below `bound` whose peer has not greeted: over tcp none that has sent a whole greeting, over
 * ipc none that has read ours. Returns how many. */
size_t silent_shut_down(int bound, silent_owner is_ours, void *context);

#endif
