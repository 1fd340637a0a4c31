/* Peers. */
#include "transport/peers.h"

#include <stdint.h>
#include <stdio.h>
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

/* The FNV-1a hash of the name. */
static peer_account **bucket_of(peer_table *table, const char *name) {
    uint32_t hash = 2166136261U;
    for (; *name; name++) {
        hash = (hash ^ (unsigned char)*name) * 16777619U;
    }
    return &table->buckets[hash % PEER_BUCKETS];
}

/* Finds the peer or enters it; NULL when out of memory. With the mutex. */
static peer_account *find_or_enter(peer_table *table, const char *name) {
    peer_account **bucket = bucket_of(table, name);
    for (peer_account *p = *bucket; p; p = p->next) {
        if (strcmp(p->name, name) == 0) {
            return p;
        }
    }
    peer_account *p = calloc(1, sizeof *p);
    if (p) {
        snprintf(p->name, sizeof p->name, "%s", name);
        p->next = *bucket;
        *bucket = p;
    }
    return p;
}

peer_account *peer_table_join(peer_table *table, const char *name, unsigned share) {
    pthread_mutex_lock(&table->mutex);
    peer_account *p = share > 0 ? find_or_enter(table, name) : NULL;
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
        peer_account **place = bucket_of(table, p->name);
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
