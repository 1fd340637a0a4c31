/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Self-probe of the workers: submits a task like a long request and measures how long it waits. Blocked workers do not
 * stop the watchdog's heartbeat: short requests are still answered, and a restart would lose the requests under way.
 * For the loop's thread only.
 */
#ifndef SERVER_OBSERVE_WORKER_PROBE_H
#define SERVER_OBSERVE_WORKER_PROBE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct worker_probe {
    atomic_bool is_waiting; /* the probe is in the queue of the pool */
    uint64_t since;         /* ns, CLOCK_MONOTONIC */
} worker_probe;

/* Function that submits a task to a pool. Returns false when the queue is full. */
typedef bool (*worker_probe_submit)(void *pool, void (*run)(void *task), void *task);

/* Submits the probe unless it is queued already. Returns for how many ns a queued probe has waited; 0 if a worker has
 * run the last one, or if the queue is full. The probe must outlive the pool. */
uint64_t worker_probe_tick(worker_probe *p, worker_probe_submit submit, void *pool);

#endif
