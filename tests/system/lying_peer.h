/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Peer that speaks nng's REP protocol over tcp and answers each request with bytes that the test chooses.
 */
#ifndef DYNAMICS_TESTS_LYING_PEER_H
#define DYNAMICS_TESTS_LYING_PEER_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

enum { LYING_PEER_REPLY = 1 << 16 };

typedef struct lying_peer {
    int listener;
    pthread_t thread;
    pthread_mutex_t mutex; /* guards the reply */
    char address[64];      /* address to dial */
    /* Reply to every request. The test changes it between calls only, with lying_peer_publish before and after a call.
     * Where `with_id` is set, the peer appends the request's own id as a Reply's id. */
    uint8_t reply[LYING_PEER_REPLY];
    size_t reply_size;
    int with_id;
    /* Function that writes the reply to a request, and its size, or NULL. Set before the start; the peer's thread calls
     * it. */
    void (*compose)(struct lying_peer *peer, const uint8_t *request, size_t size);
} lying_peer;

/* Listens on a tcp port of its own and serves its clients in a thread. A failure ends the Check test. */
void lying_peer_start(lying_peer *peer);
void lying_peer_stop(lying_peer *peer);

/* Passes the reply from the test to the peer's thread, or back. The connection orders the two threads' accesses too,
 * but a thread sanitizer does not see that. */
void lying_peer_publish(lying_peer *peer);

#endif
