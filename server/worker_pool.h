/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pool of threads that run queued tasks: long requests, or jobs. Users with waiting tasks take turns of about a
 * millisecond: a task that yields leaves its place to a task of another user, and goes on when its user has another
 * turn. One user may have half of the waiting tasks.
 */
#ifndef SERVER_WORKER_POOL_H
#define SERVER_WORKER_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct worker_pool worker_pool;

/* Creates a pool of which `slots` threads run at once, and a queue of `capacity` tasks. Further threads hold the tasks
 * that wait for another turn. `niceness`, from 0 to 19, lowers the priority of the threads where the system allows it.
 * Returns NULL when out of memory or threads. */
worker_pool *worker_pool_create(unsigned slots, size_t capacity, int niceness);

/* Submits a task of a user: a thread calls run(task). Returns false when the queue is full, the user has its share of
 * it, or the pool is being freed. `pool` is a worker_pool; `user` 0 is nobody, whose tasks have no share. Any
 * thread. */
bool worker_pool_submit_for(void *pool, uint64_t user, void (*run)(void *task), void *task);

/* Submits a task of the user whose task the calling thread runs, or else of nobody. Any thread. */
bool worker_pool_submit(void *pool, void (*run)(void *task), void *task);

/* Lets tasks of other users run, if one waits and the turn of the task that the calling thread runs has taken its time;
 * then waits for another turn. The thread must hold no lock that another task may need. Does nothing on threads of no
 * pool or of another one. */
void worker_pool_yield(void *pool);

/* Leaves the slot of the calling thread to other tasks, before the thread waits for one of them; worker_pool_resume
 * waits for another turn afterwards. Both do nothing on threads of no pool or of another one. */
void worker_pool_pause(void *pool);
void worker_pool_resume(void *pool);

/* Returns the number of tasks that wait or have begun. Any thread. */
size_t worker_pool_load(worker_pool *pool);

/* Returns the number of waiting tasks. Any thread. */
size_t worker_pool_waiting(worker_pool *pool);

/* Returns the time for which the oldest task that has not begun waits, ns; 0: none waits. Any thread. */
uint64_t worker_pool_longest_wait(worker_pool *pool);

/* Runs the waiting tasks, ends the threads and frees the pool. NULL is ignored. */
void worker_pool_free(worker_pool *pool);

#endif
