/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Periodic tasks, distributed over threads that sleep until the next one is due. A thread waits for an absolute time of
 * CLOCK_MONOTONIC and runs the tasks of its heap that are due by then, several at once, so that they can share work.
 * Each run returns the next due times. A task whose due times follow from a start time and a count does not drift,
 * however late a run is.
 */
#ifndef SERVER_SIMULATIONS_PACER_H
#define SERVER_SIMULATIONS_PACER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct pacer pacer;

/* Due time of a task that is not due again. */
#define PACER_END UINT64_MAX

/* Largest number of tasks in one run. */
enum { PACER_GROUP = 64 };

/* Task, embedded in the object that it works on. One thread at a time runs it. */
typedef struct pacer_task {
    struct pacer_thread *thread; /* thread of the last pacer_add; NULL: none */
    uint64_t due;                /* ns, also during a run */
    bool is_queued, is_running, must_end;
} pacer_task;

/* Memory that a thread keeps from run to run. A run enlarges it with realloc; the pacer frees it. */
typedef struct pacer_memory {
    void *bytes;
    size_t size;
} pacer_memory;

/* Runs `count` tasks that are due, at most PACER_GROUP, in the order of their due times, and of those that are due at
 * one time in the order of their addresses. Stores the next due time of each, ns. */
typedef void (*pacer_run)(pacer_task *const tasks[], size_t count, pacer_memory *memory, uint64_t next[]);

/* Called by a thread after each run, and once when no more of its tasks are due; `are_all_idle`: nor those of any other
 * thread. */
typedef void (*pacer_rest)(void *context, bool are_all_idle);

/* Options of a pacer. */
typedef struct pacer_options {
    unsigned threads;
    pacer_run run;
    pacer_rest rest; /* NULL: none */
    void *context;   /* of rest */
    /* Time in ns before the first due time from which on a thread spins instead of sleeping: the system wakes a thread
     * some microseconds late. 0: it never spins. */
    uint64_t spin;
} pacer_options;

/* Starts the threads. Returns NULL when out of memory or threads. */
pacer *pacer_create(const pacer_options *options);

/* Schedules a task from time `due` on, ns, on the thread with the fewest tasks. Returns false when out of memory. The
 * task must not be scheduled already; the caller serializes adding and removing one task. Any thread may call it, but
 * not a run itself. */
bool pacer_add(pacer *p, pacer_task *task, uint64_t due);

/* Removes a task, and waits while it runs; it does not run again. A task that is not scheduled is ignored. Any thread
 * may call it, but not a run itself, and not with a lock that a run acquires. */
void pacer_remove(pacer *p, pacer_task *task);

/* Counts a run of a task that ended after the task was due again. Any thread may call it. */
void pacer_count_overrun(pacer *p);

/* Returns the number of counted overruns. Any thread may call it. */
uint64_t pacer_overruns(const pacer *p);

/* Ends the threads and frees the pacer. NULL is ignored. */
void pacer_free(pacer *p);

#endif
