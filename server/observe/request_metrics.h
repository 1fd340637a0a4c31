/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counts the requests of one method: codes of the replies, times, bytes and samples. Counting is a few relaxed atomic
 * additions, without lock or allocation. Every function may be called from any thread; a reader may see one request in
 * some numbers and not yet in others.
 */
#ifndef SERVER_OBSERVE_REQUEST_METRICS_H
#define SERVER_OBSERVE_REQUEST_METRICS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* Number of the codes of a reply, from 0 on, and of the ranges of the time. */
enum { REQUEST_METRICS_CODES = 17, REQUEST_METRICS_RANGES = 23 };

/* Upper bounds of the ranges in ns. The last range, which has none, is left out. */
extern const uint64_t request_metrics_bounds[REQUEST_METRICS_RANGES - 1];

/* Numbers of one method. The alignment separates the methods in the processors' caches. */
typedef struct request_metrics {
    _Alignas(64) atomic_uint_fast64_t codes[REQUEST_METRICS_CODES];
    atomic_uint_fast64_t ranges[REQUEST_METRICS_RANGES]; /* requests by time from arrival to reply */
    atomic_uint_fast64_t time;                           /* ns, summed */
    atomic_uint_fast64_t bytes_in, bytes_out, samples;
} request_metrics;

/* One answered request. */
typedef struct request_outcome {
    unsigned code; /* of the reply; numbers beyond the last code count as 2 (unknown) */
    uint64_t time; /* ns from arrival to reply */
    size_t bytes_in, bytes_out, samples;
} request_outcome;

/* Adds a request to the numbers. */
void request_metrics_count(request_metrics *m, const request_outcome *outcome);

/* Returns the number of counted requests. */
uint64_t request_metrics_total(const request_metrics *m);

#endif
