/* SPDX-License-Identifier: BSD-2-Clause */
/* Cache of the replies to requests that change the daemon's state. */
#include "methods/reply_cache.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Numbers of shares in which peers, and clients of each peer, are counted. */
enum { PEER_SHARES = 64, CLIENT_SHARES = 256 };

/* Unit of buffer sizes, so that replies of similar size fit into each other's buffers. */
enum { CAPACITY_UNIT = 128 };

struct reply_entry {
    transport_identity peer;
    uint64_t client;
    fingerprint request;
    reply_entry *chain;         /* next entry in the bucket, or among the free entries */
    reply_entry *older, *newer; /* neighbours in the list of the share, while the reply is stored and not read */
    reply_waiter *waiters;
    uint8_t *bytes; /* written by the thread that completes the entry; after that constant until eviction */
    size_t size, capacity;
    unsigned readers;
    bool is_stored;
    uint8_t peer_share, client_share;
};

/* Stored replies of one share that no thread reads, by age. */
typedef struct reply_list {
    reply_entry *oldest, *newest;
} reply_list;

/* Index of the largest of several costs, found without comparing all costs each time. */
typedef struct ranking {
    size_t largest; /* index */
    size_t bound;   /* no other cost is greater */
} ranking;

struct reply_cache {
    fingerprint_key secret;
    pthread_mutex_t mutex; /* guards the members below; held for a few hundred instructions at a time */
    size_t used;           /* entries that have been used at least once */
    reply_entry *free;
    size_t cost, peer_cost[PEER_SHARES], client_cost[PEER_SHARES][CLIENT_SHARES]; /* of the listed entries */
    ranking peers, clients[PEER_SHARES];
    reply_list lists[PEER_SHARES][CLIENT_SHARES];
    reply_entry *buckets[REPLY_CACHE_ENTRIES];
    reply_entry entries[REPLY_CACHE_ENTRIES];
};

reply_cache *reply_cache_create(const fingerprint_key *secret) {
    reply_cache *cache = calloc(1, sizeof *cache);
    if (cache) {
        cache->secret = *secret;
        pthread_mutex_init(&cache->mutex, NULL);
    }
    return cache;
}

void reply_cache_free(reply_cache *cache) {
    if (!cache) {
        return;
    }
    for (size_t i = 0; i < cache->used; i++) {
        free(cache->entries[i].bytes);
    }
    pthread_mutex_destroy(&cache->mutex);
    free(cache);
}

/* ---- shares ------------------------------------------------------------------------------------------------------ */

static size_t cost_of(const reply_entry *entry) {
    return REPLY_CACHE_COST + (entry->size > REPLY_CACHE_COST ? entry->size : 0);
}

static void increase(ranking *r, size_t *cost, size_t i, size_t amount) {
    cost[i] += amount;
    if (i != r->largest && cost[i] > cost[r->largest]) {
        /* The largest may have fallen below the bound: then another cost may still be as great as that. */
        r->bound = r->bound > cost[r->largest] ? r->bound : cost[r->largest];
        r->largest = i;
    } else if (i != r->largest && cost[i] > r->bound) {
        r->bound = cost[i];
    }
}

/* Returns the index of the largest cost. Compares all costs only when the largest has fallen below the bound of the
 * others. */
static size_t find_largest(ranking *r, const size_t *cost, size_t count) {
    if (cost[r->largest] >= r->bound) {
        return r->largest;
    }
    *r = (ranking){0};
    for (size_t i = 1; i < count; i++) {
        if (cost[i] > cost[r->largest]) {
            r->bound = cost[r->largest];
            r->largest = i;
        } else if (cost[i] > r->bound) {
            r->bound = cost[i];
        }
    }
    return r->largest;
}

/* Adds a stored reply to the list as the newest of its share. */
static void list(reply_cache *cache, reply_entry *entry) {
    reply_list *share = &cache->lists[entry->peer_share][entry->client_share];
    entry->older = share->newest;
    entry->newer = NULL;
    *(share->newest ? &share->newest->newer : &share->oldest) = entry;
    share->newest = entry;
    increase(&cache->clients[entry->peer_share], cache->client_cost[entry->peer_share], entry->client_share,
             cost_of(entry));
    increase(&cache->peers, cache->peer_cost, entry->peer_share, cost_of(entry));
    cache->cost += cost_of(entry);
}

static void unlist(reply_cache *cache, reply_entry *entry) {
    reply_list *share = &cache->lists[entry->peer_share][entry->client_share];
    *(entry->older ? &entry->older->newer : &share->oldest) = entry->newer;
    *(entry->newer ? &entry->newer->older : &share->newest) = entry->older;
    cache->client_cost[entry->peer_share][entry->client_share] -= cost_of(entry);
    cache->peer_cost[entry->peer_share] -= cost_of(entry);
    cache->cost -= cost_of(entry);
}

/* Returns the oldest reply of the client share with the highest cost, in the peer share with the highest cost; NULL if
 * no reply is listed. */
static reply_entry *find_victim(reply_cache *cache) {
    size_t peer = find_largest(&cache->peers, cache->peer_cost, PEER_SHARES);
    size_t client = find_largest(&cache->clients[peer], cache->client_cost[peer], CLIENT_SHARES);
    return cache->lists[peer][client].oldest;
}

/* ---- entries ----------------------------------------------------------------------------------------------------- */

static reply_entry **bucket_of(reply_cache *cache, const reply_entry *entry) {
    return &cache->buckets[entry->request.words[0] % REPLY_CACHE_ENTRIES];
}

static reply_entry *find(reply_cache *cache, const reply_entry *wanted) {
    reply_entry *entry = *bucket_of(cache, wanted);
    while (entry && !(fingerprint_equal(&entry->request, &wanted->request) && entry->client == wanted->client &&
                      transport_identity_equal(&entry->peer, &wanted->peer))) {
        entry = entry->chain;
    }
    return entry;
}

/* Removes an entry that is in no share's list, and adds it to the free entries. It keeps a small buffer for its next
 * use. */
static void remove_entry(reply_cache *cache, reply_entry *entry) {
    reply_entry **place = bucket_of(cache, entry);
    while (*place != entry) {
        place = &(*place)->chain;
    }
    *place = entry->chain;
    if (entry->capacity > REPLY_CACHE_COST) {
        free(entry->bytes);
        entry->bytes = NULL;
        entry->capacity = 0;
    }
    entry->chain = cache->free;
    cache->free = entry;
}

static void evict(reply_cache *cache, reply_entry *victim) {
    unlist(cache, victim);
    remove_entry(cache, victim);
}

/* Evicts replies until all listed ones together cost at most REPLY_CACHE_BYTES. */
static void trim(reply_cache *cache) {
    while (cache->cost > REPLY_CACHE_BYTES) {
        evict(cache, find_victim(cache));
    }
}

/* Adds a pending entry. Returns NULL when every entry is pending or being read. */
static reply_entry *add(reply_cache *cache, const reply_entry *wanted) {
    reply_entry *victim = !cache->free && cache->used == REPLY_CACHE_ENTRIES ? find_victim(cache) : NULL;
    if (victim) {
        evict(cache, victim);
    }
    reply_entry *entry = cache->free;
    if (entry) {
        cache->free = entry->chain;
    } else if (cache->used < REPLY_CACHE_ENTRIES) {
        entry = &cache->entries[cache->used++];
    } else {
        return NULL;
    }
    uint8_t *bytes = entry->bytes;
    size_t capacity = entry->capacity;
    *entry = *wanted;
    entry->bytes = bytes;
    entry->capacity = capacity;
    entry->chain = *bucket_of(cache, entry);
    *bucket_of(cache, entry) = entry;
    return entry;
}

/* ---- requests ---------------------------------------------------------------------------------------------------- */

static uint8_t share_of(const reply_cache *cache, const void *bytes, size_t size, size_t count) {
    return (uint8_t)(fingerprint_make(&cache->secret, bytes, size).words[0] % count);
}

reply_state reply_cache_enter(reply_cache *cache, const reply_request *request, reply_waiter *waiter,
                              reply_entry **entry) {
    const transport_identity group = transport_identity_group(&request->peer);
    const reply_entry wanted = {
        .peer = request->peer,
        .client = request->client,
        .request = fingerprint_make(&cache->secret, request->bytes, request->size),
        .peer_share = share_of(cache, &group, sizeof group, PEER_SHARES),
        .client_share = share_of(cache, &request->client, sizeof request->client, CLIENT_SHARES),
    };
    reply_state state = REPLY_NEW;
    pthread_mutex_lock(&cache->mutex);
    reply_entry *known = find(cache, &wanted);
    if (!known) {
        known = add(cache, &wanted);
    } else if (known->is_stored) {
        state = REPLY_STORED;
        if (known->readers++ == 0) {
            unlist(cache, known);
        }
    } else {
        state = REPLY_PENDING;
        if (waiter) {
            waiter->next = known->waiters;
            known->waiters = waiter;
        }
    }
    pthread_mutex_unlock(&cache->mutex);
    *entry = known;
    return state;
}

const uint8_t *reply_entry_bytes(const reply_entry *entry, size_t *size) {
    *size = entry->size;
    return entry->bytes;
}

void reply_cache_release(reply_cache *cache, reply_entry *entry) {
    pthread_mutex_lock(&cache->mutex);
    if (--entry->readers == 0) {
        list(cache, entry);
        trim(cache);
    }
    pthread_mutex_unlock(&cache->mutex);
}

/* Copies the reply into a pending entry, which belongs to this thread. Returns false if it is too large, or when out of
 * memory. */
static bool store(reply_entry *entry, const uint8_t *bytes, size_t size) {
    if (size > REPLY_CACHE_LARGEST) {
        return false;
    }
    if (size > entry->capacity) {
        free(entry->bytes);
        entry->capacity = (size / CAPACITY_UNIT + 1) * CAPACITY_UNIT;
        entry->bytes = malloc(entry->capacity);
    }
    if (!entry->bytes) {
        entry->capacity = 0;
        return false;
    }
    memcpy(entry->bytes, bytes, size);
    entry->size = size;
    return true;
}

reply_waiter *reply_cache_complete(reply_cache *cache, reply_entry *entry, const uint8_t *bytes, size_t size) {
    if (!entry) {
        return NULL;
    }
    bool is_stored = bytes && store(entry, bytes, size);
    pthread_mutex_lock(&cache->mutex);
    reply_waiter *waiters = entry->waiters;
    entry->waiters = NULL;
    entry->is_stored = is_stored;
    if (is_stored) {
        list(cache, entry);
    } else {
        remove_entry(cache, entry);
    }
    trim(cache);
    pthread_mutex_unlock(&cache->mutex);
    return waiters;
}
