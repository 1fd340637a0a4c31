/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Peer that completes the handshake of nng's protocol, then reads everything and sends nothing.
 */
#ifndef DYNAMICS_TESTS_SILENT_PEER_H
#define DYNAMICS_TESTS_SILENT_PEER_H

#include <pthread.h>

typedef struct silent_peer {
    int listener;
    int turned_away; /* connections that are closed before they are greeted */
    pthread_t thread;
    char address[64]; /* address to dial */
} silent_peer;

/* Listens on a tcp port of its own and serves connections in a thread. Closes the first `turned_away` connections
 * before the handshake. A failure ends the Check test. */
void silent_peer_start_after(silent_peer *peer, int turned_away);
void silent_peer_start(silent_peer *peer);
void silent_peer_stop(silent_peer *peer);

#endif
