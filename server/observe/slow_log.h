/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Holds the last requests that took long. A request below the bound costs one relaxed load; one above it a mutex and a
 * copy. Nothing is allocated. Every function may be called from any thread, except slow_log_init and slow_log_free.
 */
#ifndef SERVER_OBSERVE_SLOW_LOG_H
#define SERVER_OBSERVE_SLOW_LOG_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Number of requests that are held, and sizes of their texts. Longer texts are truncated. */
enum { SLOW_LOG_ENTRIES = 128, SLOW_LOG_OBJECT_SIZE = 132, SLOW_LOG_PEER_SIZE = 64, SLOW_LOG_CALLER_SIZE = 80 };

/* Request that took long. */
typedef struct slow_request {
    uint64_t number;      /* counted from 1 by the log */
    int64_t stamp_ns;     /* wall time of its reply, ns since 1970-01-01 UTC; set by the log */
    uint64_t request;     /* number that its client chose */
    const char *method;   /* constant */
    unsigned code;        /* of the reply */
    uint64_t time, waits; /* ns from arrival to reply, and from arrival until a worker began it; 0: none did */
    size_t samples, bytes_in, bytes_out;
    char object[SLOW_LOG_OBJECT_SIZE]; /* model, simulation or other object that the request names; "": none */
    char peer[SLOW_LOG_PEER_SIZE], caller[SLOW_LOG_CALLER_SIZE];
} slow_request;

typedef struct slow_log {
    _Atomic uint64_t bound;                 /* ns; shorter requests are not held; UINT64_MAX: none is */
    pthread_mutex_t mutex;                  /* guards the members below */
    uint64_t count;                         /* requests that were added so far */
    slow_request entries[SLOW_LOG_ENTRIES]; /* request number n is at (n - 1) % SLOW_LOG_ENTRIES */
} slow_log;

/* Initializes a log that holds no request until slow_log_set_bound. */
void slow_log_init(slow_log *s);

void slow_log_free(slow_log *s);

/* Sets the time in s from which on requests are held; 0: none is. */
void slow_log_set_bound(slow_log *s, double seconds);

/* Returns whether a request of that time in ns is held. */
static inline bool slow_log_wants(const slow_log *s, uint64_t time) {
    return time >= atomic_load_explicit(&s->bound, memory_order_relaxed);
}

/* Adds a request, which may replace the oldest one. */
void slow_log_add(slow_log *s, const slow_request *request);

/* Copies the last requests, at most `most` of them, the last one first. Returns their number; `total` receives the
 * number of requests that were added so far. */
size_t slow_log_read(slow_log *s, size_t most, slow_request *requests, uint64_t *total);

#endif
