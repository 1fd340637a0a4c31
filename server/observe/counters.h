/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counters of the daemon. Any thread may read and write them.
 */
#ifndef SERVER_OBSERVE_COUNTERS_H
#define SERVER_OBSERVE_COUNTERS_H

#include <stdatomic.h>
#include <stdint.h>

typedef struct counters {
    uint64_t start; /* ns, CLOCK_MONOTONIC */
    atomic_uint_fast64_t requests;
    atomic_uint_fast64_t refused; /* answered with a code other than CODE_OK */
    atomic_uint_fast64_t events;
    atomic_uint_fast64_t listener_restarts;
    atomic_uint_fast64_t deaf_clients;
    atomic_uint_fast64_t rejected_connections;
    atomic_uint_fast64_t idle_connections;   /* closed after the idle time without a request */
    atomic_uint_fast64_t memory_shortages;   /* requests refused because memory was short */
    atomic_uint_fast64_t last_shortage;      /* ns, CLOCK_MONOTONIC; 0: never */
    atomic_uint_fast64_t half_messages;      /* connections closed because a message was incomplete after its time */
    atomic_uint_fast64_t greedy_connections; /* connections closed because memory was short and they held much of it */
    atomic_uint_fast64_t fast_calls;         /* calls over fast channels */
    atomic_uint_fast64_t fast_refused;       /* fast channels refused because too many were open */
    atomic_uint_fast64_t fast_damaged;       /* fast channels ended because of what their client wrote */
    atomic_uint connections;
    atomic_uint fast_channels;
} counters;

#endif
