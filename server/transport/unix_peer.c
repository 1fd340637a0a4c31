/* SPDX-License-Identifier: BSD-2-Clause */
/* Asks the system for the groups of the process at the other end of a unix socket. */
#include "transport/unix_peer.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/socket.h>

gid_t *unix_peer_groups(int descriptor, size_t *count) {
    struct ucred credentials;
    socklen_t size = 0, credentials_size = sizeof credentials;
    *count = 0;
    bool has_more = getsockopt(descriptor, SOL_SOCKET, SO_PEERGROUPS, NULL, &size) != 0;
    if ((has_more && errno != ERANGE) ||
        getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &credentials_size) != 0) {
        return NULL;
    }
    size_t more = size / sizeof(gid_t);
    gid_t *groups = malloc((more + 1) * sizeof *groups);
    if (groups && has_more && getsockopt(descriptor, SOL_SOCKET, SO_PEERGROUPS, groups, &size) != 0) {
        free(groups);
        return NULL;
    }
    if (groups) {
        groups[more] = credentials.gid;
        *count = more + 1;
    }
    return groups;
}
