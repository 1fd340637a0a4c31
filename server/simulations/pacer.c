/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs periodic tasks on threads, each with a heap of tasks by due time. */
#include "simulations/pacer.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>

#include "observe/clock.h"

/* Thread and its heap: the task that is due first is at index 0, and every task precedes its children 2i + 1 and 2i +
 * 2. */
typedef struct pacer_thread {
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t changed; /* the first task is another one, or the thread must end */
    pthread_cond_t done;    /* a task has run */
    pacer_task **heap;
    size_t count, capacity;
    size_t load;         /* tasks in the heap or running */
    pacer_task *running; /* NULL: none */
    bool is_started, must_end;
} pacer_thread;

struct pacer {
    atomic_uint_fast64_t overruns;
    unsigned count;
    pacer_thread threads[];
};

/* ---- heap -------------------------------------------------------------------------------------------------------- */

static void place_task(pacer_thread *t, pacer_task *task, size_t place) {
    t->heap[place] = task;
    task->place = place;
}

static void sift_up(pacer_thread *t, pacer_task *task, size_t place) {
    while (place > 0 && t->heap[(place - 1) / 2]->due > task->due) {
        place_task(t, t->heap[(place - 1) / 2], place);
        place = (place - 1) / 2;
    }
    place_task(t, task, place);
}

static void sift_down(pacer_thread *t, pacer_task *task, size_t place) {
    for (size_t child = 2 * place + 1; child < t->count; child = 2 * place + 1) {
        if (child + 1 < t->count && t->heap[child + 1]->due < t->heap[child]->due) {
            child++;
        }
        if (t->heap[child]->due >= task->due) {
            break;
        }
        place_task(t, t->heap[child], place);
        place = child;
    }
    place_task(t, task, place);
}

static void remove_task(pacer_thread *t, pacer_task *task) {
    size_t place = task->place;
    pacer_task *last = t->heap[--t->count];
    task->is_queued = false;
    if (last == task) {
        return;
    }
    if (last->due < task->due) {
        sift_up(t, last, place);
    } else {
        sift_down(t, last, place);
    }
}

static void queue(pacer_thread *t, pacer_task *task, uint64_t due) {
    task->due = due;
    task->is_queued = true;
    sift_up(t, task, t->count++);
}

/* ---- threads ----------------------------------------------------------------------------------------------------- */

/* Runs the first task of the heap, with the mutex unlocked meanwhile, and queues it again unless it has ended. */
static void run_first(pacer_thread *t) {
    pacer_task *task = t->heap[0];
    remove_task(t, task);
    t->running = task;
    pthread_mutex_unlock(&t->mutex);
    uint64_t next = task->run(task, task->due);
    pthread_mutex_lock(&t->mutex);
    t->running = NULL;
    if (next != PACER_END && !task->must_end) {
        queue(t, task, next);
    } else {
        t->load--;
    }
    pthread_cond_broadcast(&t->done);
}

static void *work(void *argument) {
    pacer_thread *t = argument;
    /* Wakes without timer slack: the system may otherwise wake a thread up to 50 us late. */
    prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
    pthread_mutex_lock(&t->mutex);
    while (!t->must_end) {
        if (t->count == 0) {
            pthread_cond_wait(&t->changed, &t->mutex);
        } else if (t->heap[0]->due <= clock_now()) {
            run_first(t);
        } else {
            clock_wait(&t->changed, &t->mutex, t->heap[0]->due);
        }
    }
    pthread_mutex_unlock(&t->mutex);
    return NULL;
}

static bool start(pacer_thread *t) {
    pthread_mutex_init(&t->mutex, NULL);
    clock_condition_init(&t->changed);
    pthread_cond_init(&t->done, NULL);
    t->is_started = pthread_create(&t->thread, NULL, work, t) == 0;
    return t->is_started;
}

pacer *pacer_create(unsigned threads) {
    pacer *p = calloc(1, sizeof *p + threads * sizeof(pacer_thread));
    if (!p) {
        return NULL;
    }
    for (unsigned i = 0; i < threads; i++) {
        p->count = i + 1;
        if (!start(&p->threads[i])) {
            pacer_free(p);
            return NULL;
        }
    }
    return p;
}

/* Reserves room for one more task, running ones included, so that queueing never fails. */
static bool reserve(pacer_thread *t) {
    if (t->load < t->capacity) {
        return true;
    }
    size_t capacity = t->capacity ? 2 * t->capacity : 16;
    pacer_task **heap = realloc(t->heap, capacity * sizeof(pacer_task *));
    if (heap) {
        t->heap = heap;
        t->capacity = capacity;
    }
    return heap != NULL;
}

static pacer_thread *least_loaded(pacer *p) {
    pacer_thread *best = NULL;
    size_t least = SIZE_MAX;
    for (unsigned i = 0; i < p->count; i++) {
        pthread_mutex_lock(&p->threads[i].mutex);
        size_t load = p->threads[i].load;
        pthread_mutex_unlock(&p->threads[i].mutex);
        if (load < least) {
            least = load;
            best = &p->threads[i];
        }
    }
    return best;
}

bool pacer_add(pacer *p, pacer_task *task, uint64_t due) {
    pacer_thread *t = least_loaded(p);
    pthread_mutex_lock(&t->mutex);
    bool has_room = reserve(t);
    if (has_room) {
        t->load++;
        task->thread = t;
        task->must_end = false;
        queue(t, task, due);
        if (task->place == 0) {
            pthread_cond_signal(&t->changed);
        }
    }
    pthread_mutex_unlock(&t->mutex);
    return has_room;
}

void pacer_remove(pacer *p, pacer_task *task) {
    pacer_thread *t = task->thread;
    (void)p;
    if (!t) {
        return;
    }
    pthread_mutex_lock(&t->mutex);
    task->must_end = true;
    while (t->running == task) {
        pthread_cond_wait(&t->done, &t->mutex);
    }
    if (task->is_queued) {
        remove_task(t, task);
        t->load--;
    }
    pthread_mutex_unlock(&t->mutex);
}

void pacer_count_overrun(pacer *p) {
    atomic_fetch_add_explicit(&p->overruns, 1, memory_order_relaxed);
}

uint64_t pacer_overruns(const pacer *p) {
    return atomic_load_explicit(&p->overruns, memory_order_relaxed);
}

void pacer_free(pacer *p) {
    for (unsigned i = 0; p && i < p->count; i++) {
        pacer_thread *t = &p->threads[i];
        pthread_mutex_lock(&t->mutex);
        t->must_end = true;
        pthread_cond_signal(&t->changed);
        pthread_mutex_unlock(&t->mutex);
        if (t->is_started) {
            pthread_join(t->thread, NULL);
        }
        pthread_cond_destroy(&t->changed);
        pthread_cond_destroy(&t->done);
        pthread_mutex_destroy(&t->mutex);
        free(t->heap);
    }
    free(p);
}
