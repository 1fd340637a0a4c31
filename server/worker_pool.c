/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs queued tasks in a pool of threads. */
#include "worker_pool.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>

typedef struct task {
    void (*run)(void *argument);
    void *argument;
} task;

struct worker_pool {
    pthread_mutex_t mutex;
    pthread_cond_t arrived;
    task *queue; /* a ring */
    size_t capacity, first, count, running;
    bool is_ending;
    int niceness;
    unsigned thread_count;
    pthread_t threads[];
};

/* Waits for a task and removes it from the queue. Returns false when the pool is being freed and the queue is empty. */
static bool pop_task(worker_pool *pool, task *result) {
    pthread_mutex_lock(&pool->mutex);
    while (pool->count == 0 && !pool->is_ending) {
        pthread_cond_wait(&pool->arrived, &pool->mutex);
    }
    bool has_task = pool->count > 0;
    if (has_task) {
        *result = pool->queue[pool->first];
        pool->first = (pool->first + 1) % pool->capacity;
        pool->count--;
        pool->running++;
    }
    pthread_mutex_unlock(&pool->mutex);
    return has_task;
}

static void *work(void *argument) {
    worker_pool *pool = argument;
    task next;
    if (pool->niceness > 0) {
        setpriority(PRIO_PROCESS, 0, pool->niceness); /* applies to this thread alone on Linux */
    }
    while (pop_task(pool, &next)) {
        next.run(next.argument);
        pthread_mutex_lock(&pool->mutex);
        pool->running--;
        pthread_mutex_unlock(&pool->mutex);
    }
    return NULL;
}

/* Starts the threads with all signals blocked, because the loop handles signals. Stops at the first thread that cannot
 * be created; thread_count is the number of started threads. */
static void start_threads(worker_pool *pool, unsigned threads) {
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    while (pool->thread_count < threads && pthread_create(&pool->threads[pool->thread_count], NULL, work, pool) == 0) {
        pool->thread_count++;
    }
    pthread_sigmask(SIG_SETMASK, &old, NULL);
}

worker_pool *worker_pool_create(unsigned threads, size_t capacity, int niceness) {
    worker_pool *pool = calloc(1, sizeof *pool + threads * sizeof(pthread_t));
    task *queue = calloc(capacity, sizeof *queue);
    if (!pool || !queue) {
        free(pool);
        free(queue);
        return NULL;
    }
    pool->queue = queue;
    pool->capacity = capacity;
    pool->niceness = niceness;
    pthread_mutex_init(&pool->mutex, NULL);
    pthread_cond_init(&pool->arrived, NULL);
    start_threads(pool, threads);
    if (pool->thread_count < threads) {
        worker_pool_free(pool);
        return NULL;
    }
    return pool;
}

bool worker_pool_submit(void *argument, void (*run)(void *task), void *task_argument) {
    worker_pool *pool = argument;
    pthread_mutex_lock(&pool->mutex);
    bool has_room = pool->count < pool->capacity && !pool->is_ending;
    if (has_room) {
        pool->queue[(pool->first + pool->count) % pool->capacity] = (task){.run = run, .argument = task_argument};
        pool->count++;
        pthread_cond_signal(&pool->arrived);
    }
    pthread_mutex_unlock(&pool->mutex);
    return has_room;
}

size_t worker_pool_load(worker_pool *pool) {
    pthread_mutex_lock(&pool->mutex);
    size_t load = pool->count + pool->running;
    pthread_mutex_unlock(&pool->mutex);
    return load;
}

size_t worker_pool_waiting(worker_pool *pool) {
    pthread_mutex_lock(&pool->mutex);
    size_t waiting = pool->count;
    pthread_mutex_unlock(&pool->mutex);
    return waiting;
}

void worker_pool_free(worker_pool *pool) {
    if (!pool) {
        return;
    }
    pthread_mutex_lock(&pool->mutex);
    pool->is_ending = true;
    pthread_cond_broadcast(&pool->arrived);
    pthread_mutex_unlock(&pool->mutex);
    for (unsigned i = 0; i < pool->thread_count; i++) {
        pthread_join(pool->threads[i], NULL);
    }
    pthread_cond_destroy(&pool->arrived);
    pthread_mutex_destroy(&pool->mutex);
    free(pool->queue);
    free(pool);
}
