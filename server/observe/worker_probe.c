/* SPDX-License-Identifier: BSD-2-Clause */
/* Measures how long a task waits for a worker. */
#include "observe/worker_probe.h"

#include "observe/clock.h"

static void answer(void *task) {
    worker_probe *p = task;
    atomic_store(&p->is_waiting, false);
}

uint64_t worker_probe_tick(worker_probe *p, worker_probe_submit submit, void *pool) {
    uint64_t now = clock_now();
    if (atomic_load(&p->is_waiting)) {
        return now - p->since;
    }
    p->since = now;
    atomic_store(&p->is_waiting, true);
    if (!submit(pool, answer, p)) {
        atomic_store(&p->is_waiting, false);
    }
    return 0;
}
