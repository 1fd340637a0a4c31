/*
 * Replies to requests that changed the daemon's state, kept in case they arrive again: a REQ socket sends a request
 * anew by itself when its connection broke or its patience ended.
 *
 * A bounded ring, the oldest replies are forgotten first. The caller serializes the calls.
 */
#ifndef SERVER_METHODS_REPLY_CACHE_H
#define SERVER_METHODS_REPLY_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { REPLY_CACHE_ENTRIES = 256, REPLY_CACHE_BYTES = 4 << 20 };

typedef struct cached_reply {
    uint64_t client, id;
    uint8_t *bytes; /* NULL: no entry */
    size_t size;
} cached_reply;

typedef struct reply_cache {
    cached_reply entries[REPLY_CACHE_ENTRIES];
    size_t next;  /* to be written */
    size_t bytes; /* held */
} reply_cache;

/* A zeroed reply_cache is empty. Frees what it holds. */
void reply_cache_clear(reply_cache *cache);

/* The reply to that request, or NULL. Valid until the next call. */
const cached_reply *reply_cache_find(const reply_cache *cache, uint64_t client, uint64_t id);

/* Keeps a copy of a reply. One that is too large, or for which memory is lacking, is not kept. */
void reply_cache_keep(reply_cache *cache, uint64_t client, uint64_t id, const uint8_t *bytes, size_t size);

#endif
