/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Peers: all connections of one identity count together. A peer has its share of the
 * connections, and is asked for as a whole how many bytes it makes the daemon hold.
 *
 * Every function may be called from any thread.
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
    atomic_size_t held; /* bytes of its messages on their way in, and of its replies on their way out */
} peer_account;

typedef struct peer_table {
    pthread_mutex_t mutex;
    peer_account *buckets[PEER_BUCKETS];
} peer_table;

void peer_table_init(peer_table *table);
void peer_table_free(peer_table *table);

/* Counts a connection of that peer, which may have `share` of them. The peer stays until its last connection has left.
 * NULL: it has its share already, or memory is lacking. */
peer_account *peer_table_join(peer_table *table, const transport_identity *peer, unsigned share);

/* Counts a connection out. NULL: nothing happens. */
void peer_table_leave(peer_table *table, peer_account *p);

#endif
