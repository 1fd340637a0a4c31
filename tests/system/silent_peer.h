/*
 * A peer that speaks nng's protocol up to the handshake and then takes everything and says nothing.
 */
#ifndef DYNAMICS_TESTS_SILENT_PEER_H
#define DYNAMICS_TESTS_SILENT_PEER_H

#include <pthread.h>

typedef struct silent_peer {
    int listener;
    pthread_t thread;
    char address[64]; /* to dial */
} silent_peer;

/* Listens on a tcp port of its own. A failure ends the Check test. */
void silent_peer_start(silent_peer *peer);
void silent_peer_stop(silent_peer *peer);

#endif
