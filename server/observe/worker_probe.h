/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The self-probe of the workers: puts a task in line, as a long request would be, and watches how long it waits.
 *
 * Workers that are blocked do not starve the service manager's watchdog: short requests are answered all the same, and
 * a restart would lose what the daemon has under way. For the thread of the loop.
 */
#ifndef SERVER_OBSERVE_WORKER_PROBE_H
#define SERVER_OBSERVE_WORKER_PROBE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct worker_probe {
    atomic_bool is_waiting; /* in line */
    uint64_t since;         /* ns, CLOCK_MONOTONIC */
} worker_probe;

/* Puts a task in line; false when the line is full. */
typedef bool (*worker_probe_submit)(void *pool, void (*run)(void *task), void *task);

/* Puts the probe in line unless it is there already. Returns for how many ns it has waited, 0: a worker took it up. The
 * probe must outlive the pool. */
uint64_t worker_probe_tick(worker_probe *p, worker_probe_submit submit, void *pool);

#endif
