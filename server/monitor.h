/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pages for monitoring programs: /metrics, /healthz and /readyz. All functions are for the thread of the loop.
 */
#ifndef SERVER_MONITOR_H
#define SERVER_MONITOR_H

#include <stdio.h>

#include "methods/live.h"
#include "methods/service.h"
#include "worker_pool.h"

/* Parts of the daemon that the pages report. */
typedef struct monitor {
    service *service;
    live *live;
    model_store *store;
    worker_pool *pool, *job_pool;
    transport *transport;
    memory_budget *budget;
    counters *counters;
    const service_limits *limits;
    health *health;
    double start; /* time of the daemon's start, s since 1970-01-01 UTC */
} monitor;

/* Writes the page of a path and returns its status. It is the function of an http_listener; `context` is a monitor.
 *
 *   /metrics   numbers in Prometheus' text format
 *   /healthz   the components, a line each; 200 unless one is not serving, else 503
 *   /readyz    the same lines; 200 if every component is serving or degraded and the daemon is not stopping, else 503
 */
unsigned monitor_page(void *context, const char *path, FILE *body);

/* Writes the page /metrics. Defined in monitor_metrics.c. */
void monitor_write_metrics(const monitor *m, FILE *body);

/* Returns the name of a component's state: "unknown", "serving", "degraded" or "not_serving". */
const char *monitor_state_name(health_state state);

#endif
