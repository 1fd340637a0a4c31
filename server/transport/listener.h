/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Listening endpoint of nng that can be replaced while it is in use.
 *
 * A listener of nng before 1.6 can mistake a client's close for its own and then stops adding connections (nng issue
 * 1518; nng_repairs.h prevents the known way). No listener of nng 1.10.1 was observed to do so. The daemon replaces any
 * listener that stops serving. Such a listener still accepts and completes handshakes, but hands no connection to its
 * socket, and it cannot be revived. A new one replaces it: each ipc listener is bound to a path of its own,
 * "<path>.<generation>", and moved to the public path by rename, which is atomic.
 *
 * The old listener stays open as long as it has active connections. Connections that it has accepted and forgotten are
 * recognized by a request that nobody reads. They are shut down, so that their clients reconnect. When the old listener
 * is closed at last, nng leaks its descriptor and those of the forgotten connections; this file closes them.
 */
#ifndef SERVER_TRANSPORT_LISTENER_H
#define SERVER_TRANSPORT_LISTENER_H

#include <nng/nng.h>
#include <nng/supplemental/tls/tls.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "transport/transport.h"

enum { LISTENER_OLD = 64, LISTENER_SUSPECTS = 256 };

/* Listener that another one has replaced. */
typedef struct old_listener {
    nng_listener handle;
    unsigned generation;
    bool is_closed;
    uint64_t since; /* ns; time of its replacement, later of its closing */
} old_listener;

typedef struct listener {
    char address[TRANSPORT_ADDRESS_SIZE]; /* as clients dial it */
    transport_kind kind;
    nng_socket socket;
    unsigned mode;       /* permissions of an ipc socket */
    nng_tls_config *tls; /* of an address of TLS; belongs to the transport */
    nng_listener handle; /* nng's handle; its id is 0 when there is none */
    unsigned generation;
    dev_t device; /* device of the socket at the public path */
    ino_t inode;  /* inode of the socket at the public path */
    old_listener old[LISTENER_OLD];
    size_t old_count;
    uint64_t next_search;            /* ns; time of the next search for forgotten connections */
    int suspects[LISTENER_SUSPECTS]; /* descriptors that had unread bytes at the last search */
    size_t suspect_count;
} listener;

/* Returns the path of an ipc address, or NULL for an address of another kind. */
const char *listener_ipc_path(const char *address);

/* Starts to listen at l->address. Replaces a socket file that nobody listens on. On failure writes a sentence to
 * `error` and returns false. */
bool listener_open(listener *l, char error[TRANSPORT_ERROR_SIZE]);

/* Replaces the listener by a new one. An ipc listener stays if that fails. A tcp listener is closed first, since the
 * new one needs its port; if the new one fails, there is none. The next call tries again. */
bool listener_replace(listener *l, char error[TRANSPORT_ERROR_SIZE]);

/* Uses other certificates for connections from now on. Does nothing for an address without TLS. */
void listener_set_tls(listener *l, nng_tls_config *tls);

/* Returns whether a local address is one of this listener's, for ipc of any generation. */
bool listener_owns(const listener *l, const struct sockaddr_storage *local);

/* Returns the number of active connections of an nng listener. */
typedef size_t (*listener_census)(void *context, int id);

/* Cleans up after replaced listeners: shuts down forgotten connections, closes listeners without connections, and
 * closes the descriptors that those leak. */
void listener_sweep(listener *l, uint64_t now, listener_census census, void *context);

/* Removes the public path of an ipc listener, unless another process has put its own socket there. */
void listener_unlink(listener *l);

#endif
