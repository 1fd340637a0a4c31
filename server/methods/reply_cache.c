/* Replies to requests that changed the daemon's state. */
#include "methods/reply_cache.h"

#include <stdlib.h>
#include <string.h>

static void forget(reply_cache *cache, size_t i) {
    cached_reply *entry = &cache->entries[i];
    cache->bytes -= entry->size;
    free(entry->bytes);
    memset(entry, 0, sizeof *entry);
}

void reply_cache_clear(reply_cache *cache) {
    for (size_t i = 0; i < REPLY_CACHE_ENTRIES; i++) {
        forget(cache, i);
    }
}

const cached_reply *reply_cache_find(const reply_cache *cache, uint64_t client, uint64_t id) {
    for (size_t i = 0; i < REPLY_CACHE_ENTRIES; i++) {
        const cached_reply *entry = &cache->entries[i];
        if (entry->bytes && entry->client == client && entry->id == id) {
            return entry;
        }
    }
    return NULL;
}

void reply_cache_keep(reply_cache *cache, uint64_t client, uint64_t id, const uint8_t *bytes, size_t size) {
    uint8_t *copy = size <= REPLY_CACHE_BYTES / 4 ? malloc(size ? size : 1) : NULL;
    if (!copy) {
        return;
    }
    memcpy(copy, bytes, size);
    /* The oldest entries follow the place to be written. */
    forget(cache, cache->next);
    for (size_t i = 1; i < REPLY_CACHE_ENTRIES && cache->bytes + size > REPLY_CACHE_BYTES; i++) {
        forget(cache, (cache->next + i) % REPLY_CACHE_ENTRIES);
    }
    cache->entries[cache->next] = (cached_reply){.client = client, .id = id, .bytes = copy, .size = size};
    cache->bytes += size;
    cache->next = (cache->next + 1) % REPLY_CACHE_ENTRIES;
}
