/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counts what the gateway does, and writes the counters as text for Prometheus.
 */
#ifndef ROSBRIDGE_METRICS_H
#define ROSBRIDGE_METRICS_H

#include <stdint.h>
#include <stdio.h>

typedef enum counter {
    COUNTER_CONNECTIONS,
    COUNTER_CONNECTIONS_REFUSED,
    COUNTER_CONNECTIONS_CUT,
    COUNTER_MESSAGES_IN,
    COUNTER_BYTES_IN,
    COUNTER_MESSAGES_OUT,
    COUNTER_BYTES_OUT,
    COUNTER_MESSAGES_REFUSED,
    COUNTER_MESSAGES_LOST,
    COUNTER_CALLS,
    COUNTER_CALLS_FAILED,
    COUNTER_EVENTS,
    COUNTER_EVENTS_LOST,
    COUNTERS,
} counter;

/* Gauges: current numbers. */
typedef enum gauge {
    GAUGE_CONNECTIONS,
    GAUGE_CALLS_UNDER_WAY,
    GAUGE_TOPICS,
    GAUGE_SUBSCRIPTIONS,
    GAUGE_DAEMON_REACHED,
    GAUGES,
} gauge;

/* Counters and gauges. Only the event loop writes them. */
typedef struct metrics {
    uint64_t counters[COUNTERS];
    uint64_t gauges[GAUGES];
} metrics;

void metrics_write(const metrics *written, FILE *to);

#endif
