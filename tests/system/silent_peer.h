/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Peer that completes the handshake of nng's protocol, then reads everything and sends nothing.
 */
#ifndef DYNAMICS_TESTS_SILENT_PEER_H
#define DYNAMICS_TESTS_SILENT_PEER_H

#include <pthread.h>
#include <stdatomic.h>

typedef struct silent_peer {
    int listener;
    atomic_int connection;  /* the one that is served, or -1 */
    atomic_int turned_away; /* connections that are closed before they are greeted */
    char path[64];          /* of the listener over ipc, else empty */
    pthread_t thread;
    char address[80]; /* address to dial */
} silent_peer;

/* Listens on a tcp port of its own and serves connections in a thread. Closes the first `turned_away` connections
 * before the handshake, when their greeting has come. A failure ends the Check test. */
void silent_peer_start_after(silent_peer *peer, int turned_away);
void silent_peer_start(silent_peer *peer);

/* Listens on a socket file. Closes the first `turned_away` connections at once. */
void silent_peer_start_ipc_after(silent_peer *peer, int turned_away);

/* Closes the connection that is served, and then turns away as many. */
void silent_peer_drop(silent_peer *peer, int turned_away);

void silent_peer_stop(silent_peer *peer);

#endif
