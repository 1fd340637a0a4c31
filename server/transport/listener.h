/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One listening endpoint of nng, which can be replaced while it is in use.
 *
 * A listener of nng before 1.6 that takes a client's closing for its own takes up no more connections (nng issue 1518;
 * nng_repairs.h prevents the known way). No listener of nng 1.10.1 was seen to do so; the daemon replaces whichever one
 * stops serving. Such a listener goes on to accept and to shake hands, but hands no connection
 * to its socket. It cannot be revived. A new one takes its place: each ipc listener is bound to a path of its own,
 * "<path>.<generation>", and moved to the public path by rename, which is atomic.
 *
 * The old one stays as long as it has connections at work. Those that it has accepted and forgotten hold a request that
 * nobody reads: they are told from the others by it, and shut down, so that their clients connect anew. When the old
 * one is closed at last, nng leaks the descriptors of the forgotten connections and its own; they are closed here.
 */
#ifndef SERVER_TRANSPORT_LISTENER_H
#define SERVER_TRANSPORT_LISTENER_H

#include <nng/nng.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "transport/transport.h"

enum { LISTENER_OLD = 64, LISTENER_SUSPECTS = 256 };

/* A listener that another one has replaced. */
typedef struct old_listener {
    nng_listener handle;
    unsigned generation;
    bool is_closed;
    uint64_t since; /* ns; of its replacement, and then of its closing */
} old_listener;

typedef struct listener {
    char address[TRANSPORT_ADDRESS_SIZE]; /* as clients dial it */
    transport_kind kind;
    nng_socket socket;
    unsigned mode;       /* permissions of an ipc socket */
    nng_listener handle; /* of nng; its id is 0 when there is none */
    unsigned generation;
    dev_t device; /* of the public path of an ipc socket, */
    ino_t inode;  /* to know it again */
    old_listener old[LISTENER_OLD];
    size_t old_count;
    uint64_t next_search;            /* ns; for forgotten connections */
    int suspects[LISTENER_SUSPECTS]; /* descriptors that had unread bytes at the last search */
    size_t suspect_count;
} listener;

/* Path of an ipc address, or NULL for another one. */
const char *listener_ipc_path(const char *address);

/* Starts to listen at l->address. A socket file that nobody listens on is replaced. On failure writes a sentence. */
bool listener_open(listener *l, char error[TRANSPORT_ERROR_SIZE]);

/* Puts a new listener in this one's place. On failure the old one stays, and the next call tries again. */
bool listener_replace(listener *l, char error[TRANSPORT_ERROR_SIZE]);

/* Returns whether a local address is one of this listener's: of any generation, for ipc. */
bool listener_owns(const listener *l, const struct sockaddr_storage *local);

/* Tells how many connections of an nng listener are at work. */
typedef size_t (*listener_census)(void *context, int id);

/* Cleans up after replaced listeners: shuts down forgotten connections, closes listeners without connections, and
 * closes the descriptors that those leave. */
void listener_sweep(listener *l, uint64_t now, listener_census census, void *context);

/* Removes the public path of an ipc listener, if it is still this one's. */
void listener_unlink(listener *l);

#endif
