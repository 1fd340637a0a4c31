/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pool of threads that run queued tasks: long requests, or jobs.
 */
#ifndef SERVER_WORKER_POOL_H
#define SERVER_WORKER_POOL_H

#include <stdbool.h>
#include <stddef.h>

typedef struct worker_pool worker_pool;

/* Starts `threads` threads and a queue of `capacity` tasks. `niceness`, from 0 to 19, lowers the priority of the
 * threads where the system allows it. Returns NULL when out of memory or threads. */
worker_pool *worker_pool_create(unsigned threads, size_t capacity, int niceness);

/* Submits a task: a thread calls run(task). Returns false when the queue is full or the pool is being freed. `pool` is
 * a worker_pool. Any thread. */
bool worker_pool_submit(void *pool, void (*run)(void *task), void *task);

/* Returns the number of waiting and running tasks. Any thread. */
size_t worker_pool_load(worker_pool *pool);

/* Returns the number of waiting tasks. Any thread. */
size_t worker_pool_waiting(worker_pool *pool);

/* Runs the waiting tasks, ends the threads and frees the pool. NULL is ignored. */
void worker_pool_free(worker_pool *pool);

#endif
