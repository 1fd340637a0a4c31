/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Replies to requests that change the daemon's state, stored in case a request arrives again: a REQ socket repeats its
 * request by itself when the connection breaks or the reply is late.
 *
 * A request is entered when it arrives and completed with its reply. A copy that arrives in between waits for that
 * reply, so that no request is executed twice at once. Only equal bytes of the same peer and client are a copy, so no
 * other client can read the reply of a request or replace it.
 *
 * The cache is bounded in entries and bytes. When it is full, it evicts the oldest reply of the peer that uses most of
 * it, and among that peer's clients of the one that uses most. So a peer that sends many requests evicts its own
 * replies. Peers and clients are counted in a fixed number of shares, to which a secret assigns them.
 *
 * Any thread may call the functions, except reply_cache_create and reply_cache_free.
 */
#ifndef SERVER_METHODS_REPLY_CACHE_H
#define SERVER_METHODS_REPLY_CACHE_H

#include "methods/fingerprint.h"
#include "transport/transport.h"

/* Largest number of replies, of bytes of all replies together, and of bytes of one reply. */
enum { REPLY_CACHE_ENTRIES = 8192, REPLY_CACHE_BYTES = 16 << 20, REPLY_CACHE_LARGEST = 1 << 20 };

/* Number of bytes for which each reply counts. A reply of more bytes counts its size in addition. */
enum { REPLY_CACHE_COST = REPLY_CACHE_BYTES / REPLY_CACHE_ENTRIES };

typedef struct reply_cache reply_cache;
typedef struct reply_entry reply_entry;

/* Request as received, and the peer and client that sent it. */
typedef struct reply_request {
    transport_identity peer;
    uint64_t client;
    const uint8_t *bytes;
    size_t size;
} reply_request;

/* Copy of a request that waits for the reply. */
typedef struct reply_waiter {
    struct reply_waiter *next;
    void *owner;
} reply_waiter;

/* State of a request in the cache. */
typedef enum reply_state {
    REPLY_NEW,     /* the request is to be executed and its entry completed */
    REPLY_PENDING, /* an earlier copy is being executed */
    REPLY_STORED   /* the entry has the reply, until it is released */
} reply_state;

/* Creates a cache. Returns NULL when out of memory. */
reply_cache *reply_cache_create(const fingerprint_key *secret);

/* Frees a cache, which may be NULL. No thread may use it any more. */
void reply_cache_free(reply_cache *cache);

/* Finds or adds the entry of a request. If it is pending, lists the waiter, unless that is NULL; from then on the
 * thread that completes the entry owns the waiter. `entry` is NULL for a new request if every entry is in use: its
 * reply is not stored. */
reply_state reply_cache_enter(reply_cache *cache, const reply_request *request, reply_waiter *waiter,
                              reply_entry **entry);

/* Returns the bytes of a stored reply, which are valid until reply_cache_release, and their number. */
const uint8_t *reply_entry_bytes(const reply_entry *entry, size_t *size);

/* Ends the use of a stored reply, once for each REPLY_STORED. */
void reply_cache_release(reply_cache *cache, reply_entry *entry);

/* Stores a copy of the reply and returns the list of waiters. With `bytes` NULL, a reply that is too large, or without
 * memory, removes the entry: the request is executed when it arrives again. Does nothing and returns NULL for an entry
 * that is NULL. */
reply_waiter *reply_cache_complete(reply_cache *cache, reply_entry *entry, const uint8_t *bytes, size_t size);

#endif
