/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Work at given times: tasks that are due again and again, spread over threads that sleep until the next one.
 *
 * A thread waits for an absolute time of CLOCK_MONOTONIC and takes the earliest task of its heap. Each task names the
 * time at which it is due next, so whoever computes that from a start and a count has no drift, however late a tick is.
 */
#ifndef SERVER_SIMULATIONS_PACER_H
#define SERVER_SIMULATIONS_PACER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct pacer pacer;

/* Return value of a task that is not due again. */
#define PACER_END UINT64_MAX

/* Embedded in what is to be done. `run` is called when the task is due, by one thread at a time, and returns when it is
 * due next, ns. */
typedef struct pacer_task {
    uint64_t (*run)(struct pacer_task *task, uint64_t due);
    struct pacer_thread *thread; /* that it was last given to; NULL: none */
    uint64_t due;
    size_t place; /* in the thread's heap */
    bool is_queued, must_end;
} pacer_task;

/* Starts the threads; NULL when out of memory or threads. */
pacer *pacer_create(unsigned threads);

/* Has a task run from `due` on, ns. The thread with the fewest tasks takes it. False when out of memory. The task must
 * not be with a pacer already; the caller serializes adding and removing one task. Any thread, but for run itself. */
bool pacer_add(pacer *p, pacer_task *task, uint64_t due);

/* Takes a task out, and waits while it runs; it will not run again. Nothing happens where it is not with the pacer. Any
 * thread, but for run itself, and not with a lock that run takes. */
void pacer_remove(pacer *p, pacer_task *task);

/* Ends the threads. NULL: nothing happens. */
void pacer_free(pacer *p);

#endif
