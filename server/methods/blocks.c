/* SPDX-License-Identifier: BSD-2-Clause */
/* Blocks: splits the work on many samples over the idle threads. */
#include "methods/blocks.h"

#include <pthread.h>
#include <stdlib.h>

#include "observe/clock.h"

/* State that the threads of one batch share. It lives until the last of them has released it. That may be long after
 * the work is done, since a thread may start late. */
typedef struct shared_work {
    blocks blocks;
    atomic_size_t next; /* first sample that no thread has claimed */
    atomic_bool is_stopped, is_late, is_ended;
    atomic_uint references;
    pthread_mutex_t mutex; /* guards the members below */
    pthread_cond_t left;
    unsigned begun, running; /* threads in addition to the calling one */
    bool is_closed;
    dyn_status status;
    dyn_error error;
    size_t failed_first;
} shared_work;

static size_t block_size(const blocks *b) {
    return b->size > 0 ? b->size : BLOCK_SAMPLES;
}

static void release(shared_work *w) {
    if (atomic_fetch_sub(&w->references, 1) == 1) {
        pthread_cond_destroy(&w->left);
        pthread_mutex_destroy(&w->mutex);
        free(w);
    }
}

/* Stores the error of the lowest failed block. Threads claim blocks in order, so all lower blocks are done or in
 * progress. */
static void note_failure(shared_work *w, size_t first, dyn_status status, const dyn_error *error) {
    atomic_store(&w->is_stopped, true);
    pthread_mutex_lock(&w->mutex);
    if (w->status == DYN_OK || first < w->failed_first) {
        w->status = status;
        w->error = *error;
        w->failed_first = first;
    }
    pthread_mutex_unlock(&w->mutex);
}

/* Computes blocks until none is left, one fails, the deadline passes or `proceed` ends the work. */
static void work(shared_work *w, unsigned worker) {
    const blocks *b = &w->blocks;
    while (!atomic_load(&w->is_stopped)) {
        if (clock_now() > b->deadline) {
            atomic_store(&w->is_late, true);
            atomic_store(&w->is_stopped, true);
            return;
        }
        if (b->proceed && !b->proceed(b->context)) {
            atomic_store(&w->is_ended, true);
            atomic_store(&w->is_stopped, true);
            return;
        }
        size_t first = atomic_fetch_add(&w->next, block_size(b));
        if (first >= b->n) {
            return;
        }
        dyn_error error = {0};
        size_t count = b->n - first < block_size(b) ? b->n - first : block_size(b);
        dyn_status status = b->step(b->context, worker, first, count, &error);
        if (status != DYN_OK) {
            note_failure(w, first, status, &error);
        }
    }
}

/* Computes blocks on a further thread, unless the work is done already, and releases the thread's reference. */
static void join(void *task) {
    shared_work *w = task;
    pthread_mutex_lock(&w->mutex);
    bool is_late = w->is_closed;
    unsigned worker = is_late ? 0 : ++w->begun;
    w->running += !is_late;
    pthread_mutex_unlock(&w->mutex);
    if (!is_late) {
        work(w, worker);
        pthread_mutex_lock(&w->mutex);
        w->running--;
        pthread_cond_signal(&w->left);
        pthread_mutex_unlock(&w->mutex);
    }
    release(w);
}

static shared_work *create(const blocks *b) {
    shared_work *w = calloc(1, sizeof *w);
    if (w) {
        w->blocks = *b;
        atomic_init(&w->references, 1);
        pthread_mutex_init(&w->mutex, NULL);
        pthread_cond_init(&w->left, NULL);
    }
    return w;
}

/* Submits the work to further threads: as many as there are further blocks and workers, or until the queue is full. */
static void invite(shared_work *w) {
    const blocks *b = &w->blocks;
    size_t count = (b->n + block_size(b) - 1) / block_size(b);
    for (unsigned i = 1; i < b->workers && i < count; i++) {
        atomic_fetch_add(&w->references, 1);
        if (!b->submit(b->pool, join, w)) {
            release(w);
            return;
        }
    }
}

/* Waits for the further threads. They may wait for a slot of the pool: this thread leaves them its own. */
static void await_others(shared_work *w) {
    const blocks *b = &w->blocks;
    if (b->pause) {
        b->pause(b->pool);
    }
    pthread_mutex_lock(&w->mutex);
    while (w->running > 0) {
        pthread_cond_wait(&w->left, &w->mutex);
    }
    pthread_mutex_unlock(&w->mutex);
    if (b->resume) {
        b->resume(b->pool);
    }
}

/* Stops accepting further threads and waits for those that are running. */
static void finish(shared_work *w) {
    pthread_mutex_lock(&w->mutex);
    w->is_closed = true;
    bool must_wait = w->running > 0;
    pthread_mutex_unlock(&w->mutex);
    if (must_wait) {
        await_others(w);
    }
}

/* Runs all blocks in the calling thread. Allocates nothing. */
static blocks_result run_alone(const blocks *b, dyn_status *status, dyn_error *error, size_t *first) {
    for (*first = 0; *first < b->n; *first += block_size(b)) {
        if (*first > 0 && clock_now() > b->deadline) {
            return BLOCKS_LATE;
        }
        if (*first > 0 && b->proceed && !b->proceed(b->context)) {
            return BLOCKS_ENDED;
        }
        size_t count = b->n - *first < block_size(b) ? b->n - *first : block_size(b);
        *status = b->step(b->context, 0, *first, count, error);
        if (*status != DYN_OK) {
            return BLOCKS_FAILED;
        }
    }
    return BLOCKS_DONE;
}

blocks_result blocks_run(const blocks *b, dyn_status *status, dyn_error *error, size_t *first) {
    if (b->workers <= 1 || b->n <= block_size(b)) {
        return run_alone(b, status, error, first);
    }
    shared_work *w = create(b);
    if (!w) {
        *error =
            (dyn_error){.status = DYN_RESOURCE_EXHAUSTED, .site.cause = DYN_CAUSE_MEMORY, .message = "out of memory"};
        *status = DYN_RESOURCE_EXHAUSTED;
        *first = 0;
        return BLOCKS_FAILED;
    }
    invite(w);
    work(w, 0);
    finish(w);
    blocks_result result = BLOCKS_DONE;
    if (w->status != DYN_OK) {
        *status = w->status;
        *error = w->error;
        *first = w->failed_first;
        result = BLOCKS_FAILED;
    } else if (atomic_load(&w->is_late) && atomic_load(&w->next) < b->n) {
        result = BLOCKS_LATE;
    } else if (atomic_load(&w->is_ended) && atomic_load(&w->next) < b->n) {
        result = BLOCKS_ENDED;
    }
    release(w);
    return result;
}
