/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Periodic tasks, distributed over threads that sleep until the next one is due. A thread waits for an absolute time of
 * CLOCK_MONOTONIC and runs the earliest task of its heap. Each task returns its next due time. A task that computes it
 * from a start time and a count does not drift, however late a tick is.
 */
#ifndef SERVER_SIMULATIONS_PACER_H
#define SERVER_SIMULATIONS_PACER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct pacer pacer;

/* Return value of a task that is not due again. */
#define PACER_END UINT64_MAX

/* Task, embedded in the object that it works on. One thread at a time calls `run` when the task is due; it returns the
 * next due time in ns. */
typedef struct pacer_task {
    uint64_t (*run)(struct pacer_task *task, uint64_t due);
    struct pacer_thread *thread; /* thread of the last pacer_add; NULL: none */
    uint64_t due;
    size_t place; /* index in the thread's heap */
    bool is_queued, must_end;
} pacer_task;

/* Starts the threads. Returns NULL when out of memory or threads. */
pacer *pacer_create(unsigned threads);

/* Schedules a task from time `due` on, ns, on the thread with the fewest tasks. Returns false when out of memory. The
 * task must not be scheduled already; the caller serializes adding and removing one task. Any thread may call it, but
 * not `run` itself. */
bool pacer_add(pacer *p, pacer_task *task, uint64_t due);

/* Removes a task, and waits while it runs; it does not run again. A task that is not scheduled is ignored. Any thread
 * may call it, but not `run` itself, and not with a lock that `run` takes. */
void pacer_remove(pacer *p, pacer_task *task);

/* Counts a run of a task that ended after the task was due again. Any thread may call it. */
void pacer_count_overrun(pacer *p);

/* Returns the number of counted overruns. Any thread may call it. */
uint64_t pacer_overruns(const pacer *p);

/* Ends the threads and frees the pacer. NULL is ignored. */
void pacer_free(pacer *p);

#endif
