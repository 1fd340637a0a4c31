/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Accounts of peers: all connections of one identity count as one peer. A peer has a share of the connections, and the
 * daemon accounts for the bytes that all of them hold together. Every function may be called from any thread.
 */
#ifndef SERVER_TRANSPORT_PEERS_H
#define SERVER_TRANSPORT_PEERS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "transport/transport.h"

enum { PEER_BUCKETS = 256 };

typedef struct peer_account {
    struct peer_account *next;
    transport_identity identity;
    unsigned connections;
    atomic_size_t held; /* bytes of its incoming messages and outgoing replies */
} peer_account;

typedef struct peer_table {
    pthread_mutex_t mutex;
    peer_account *buckets[PEER_BUCKETS];
} peer_table;

void peer_table_init(peer_table *table);
void peer_table_free(peer_table *table);

/* Counts a connection of a peer and returns the peer's account, which exists until its last connection leaves. Returns
 * NULL if the peer has `share` connections already or memory is exhausted. */
peer_account *peer_table_join(peer_table *table, const transport_identity *peer, unsigned share);

/* Removes a connection from the peer's count. NULL is ignored. */
void peer_table_leave(peer_table *table, peer_account *p);

#endif
