/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Facts that the system states about the process at the other end of a unix socket.
 */
#ifndef SERVER_TRANSPORT_UNIX_PEER_H
#define SERVER_TRANSPORT_UNIX_PEER_H

#include <stddef.h>
#include <sys/types.h>

/* Returns the groups of the process, its own group last, in memory that the caller frees, and their number. Returns
 * NULL if they are not known or memory is exhausted. */
gid_t *unix_peer_groups(int descriptor, size_t *count);

#endif
