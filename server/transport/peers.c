/* SPDX-License-Identifier: BSD-2-Clause */
/* Counts the connections of each peer, in a hash table of accounts. */
#include "transport/peers.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void peer_table_init(peer_table *table) {
    memset(table, 0, sizeof *table);
    pthread_mutex_init(&table->mutex, NULL);
}

void peer_table_free(peer_table *table) {
    for (size_t i = 0; i < PEER_BUCKETS; i++) {
        while (table->buckets[i]) {
            peer_account *p = table->buckets[i];
            table->buckets[i] = p->next;
            free(p);
        }
    }
    pthread_mutex_destroy(&table->mutex);
}

static peer_account **bucket_of(peer_table *table, const transport_identity *peer) {
    /* Spreads neighbouring addresses and users over the buckets: the factor is 2^64 divided by the golden ratio. */
    uint64_t hash = (peer->value ^ peer->origin) * UINT64_C(0x9e3779b97f4a7c15);
    return &table->buckets[(hash >> 32) % PEER_BUCKETS];
}

/* Returns the account of the peer, and creates it if necessary. Returns NULL when out of memory. Called with the mutex
 * held. */
static peer_account *find_or_enter(peer_table *table, const transport_identity *peer) {
    peer_account **bucket = bucket_of(table, peer);
    for (peer_account *p = *bucket; p; p = p->next) {
        if (transport_identity_equal(&p->identity, peer)) {
            return p;
        }
    }
    peer_account *p = calloc(1, sizeof *p);
    if (p) {
        p->identity = *peer;
        p->next = *bucket;
        *bucket = p;
    }
    return p;
}

peer_account *peer_table_join(peer_table *table, const transport_identity *peer, unsigned share) {
    pthread_mutex_lock(&table->mutex);
    peer_account *p = share > 0 ? find_or_enter(table, peer) : NULL;
    if (p && p->connections < share) {
        p->connections++;
    } else {
        p = NULL;
    }
    pthread_mutex_unlock(&table->mutex);
    return p;
}

void peer_table_leave(peer_table *table, peer_account *p) {
    if (!p) {
        return;
    }
    pthread_mutex_lock(&table->mutex);
    bool is_last = --p->connections == 0;
    if (is_last) {
        peer_account **place = bucket_of(table, &p->identity);
        while (*place != p) {
            place = &(*place)->next;
        }
        *place = p->next;
    }
    pthread_mutex_unlock(&table->mutex);
    if (is_last) {
        free(p);
    }
}
