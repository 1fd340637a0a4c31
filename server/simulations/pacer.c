/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs periodic tasks on threads, each with a heap of tasks by due time, in groups of those that are due. */
#include "simulations/pacer.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>

#include "observe/clock.h"

/* Entry of a heap: a task, and its due time beside those of its neighbours, so that sorting reads no task. */
typedef struct heap_entry {
    uint64_t due;
    pacer_task *task;
} heap_entry;

/* Thread and its heap: the task that is due first is at index 0, and every task precedes its children 2i + 1 and 2i +
 * 2. */
typedef struct pacer_thread {
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t changed; /* the first task is another one, or the thread must end */
    pthread_cond_t done;    /* tasks have run */
    heap_entry *heap;
    size_t count, capacity;
    size_t load; /* tasks in the heap or running */
    const pacer_options *options;
    pacer_memory memory; /* of the thread */
    const struct pacer *pacer;
    atomic_uint_fast64_t idle_until; /* ns, due time of the first task; 0: the thread is busy with tasks */
    atomic_bool has_news;            /* a spinning thread must look at its heap again */
    bool is_started, must_end;
} pacer_thread;

struct pacer {
    atomic_uint_fast64_t overruns;
    pacer_options options;
    unsigned count;
    pacer_thread threads[];
};

/* ---- heap -------------------------------------------------------------------------------------------------------- */

/* Returns whether an entry runs before another: of those that are due at one time, the one at the lower address, so
 * that tasks that run together do so in the order of their addresses. */
static bool precedes(heap_entry a, heap_entry b) {
    return (a.due < b.due) | ((a.due == b.due) & (a.task < b.task)); /* without a branch that is hard to predict */
}

static void sift_up(pacer_thread *t, heap_entry entry, size_t place) {
    while (place > 0 && precedes(entry, t->heap[(place - 1) / 2])) {
        t->heap[place] = t->heap[(place - 1) / 2];
        place = (place - 1) / 2;
    }
    t->heap[place] = entry;
}

/* Fills a place with the first of its descendants, and so on down to a leaf, where the entry then rises: most entries
 * are those of a later tick and stay near the leaves. */
static void sift_down(pacer_thread *t, heap_entry entry, size_t place) {
    for (size_t child = 2 * place + 1; child < t->count; child = 2 * place + 1) {
        child += child + 1 < t->count && precedes(t->heap[child + 1], t->heap[child]);
        t->heap[place] = t->heap[child];
        place = child;
    }
    sift_up(t, entry, place);
}

static pacer_task *remove_place(pacer_thread *t, size_t place) {
    pacer_task *removed = t->heap[place].task;
    const heap_entry last = t->heap[--t->count];
    removed->is_queued = false;
    if (place < t->count) {
        sift_down(t, last, place);
    }
    return removed;
}

/* Searches the whole heap: tasks are removed seldom. */
static void remove_task(pacer_thread *t, const pacer_task *task) {
    size_t place = 0;
    while (t->heap[place].task != task) {
        place++;
    }
    remove_place(t, place);
}

static void queue(pacer_thread *t, pacer_task *task, uint64_t due) {
    task->due = due;
    task->is_queued = true;
    sift_up(t, (heap_entry){due, task}, t->count++);
}

/* ---- threads ----------------------------------------------------------------------------------------------------- */

static void rest(const pacer_thread *t, bool are_all_idle) {
    if (t->options->rest) {
        t->options->rest(t->options->context, are_all_idle);
    }
}

/* Runs the tasks that are due, with the mutex unlocked meanwhile, and queues them again unless they have ended. */
static void run_due(pacer_thread *t, uint64_t now) {
    pacer_task *tasks[PACER_GROUP];
    uint64_t next[PACER_GROUP];
    size_t count = 0;
    while (t->count > 0 && t->heap[0].due <= now && count < PACER_GROUP) {
        tasks[count] = remove_place(t, 0);
        tasks[count++]->is_running = true;
    }
    pthread_mutex_unlock(&t->mutex);
    atomic_store(&t->idle_until, 0);
    t->options->run(tasks, count, &t->memory, next);
    rest(t, false);
    pthread_mutex_lock(&t->mutex);
    for (size_t i = 0; i < count; i++) {
        tasks[i]->is_running = false;
        if (next[i] != PACER_END && !tasks[i]->must_end) {
            queue(t, tasks[i], next[i]);
        } else {
            t->load--;
        }
    }
    pthread_cond_broadcast(&t->done);
}

static bool are_all_idle(const pacer *p, uint64_t now) {
    for (unsigned i = 0; i < p->count; i++) {
        if (atomic_load(&p->threads[i].idle_until) <= now) {
            return false;
        }
    }
    return true;
}

/* Notes that no task is due before `due`. Returns true if the thread was busy until now, after unlocking the mutex
 * meanwhile. */
static bool become_idle(pacer_thread *t, uint64_t now, uint64_t due) {
    if (atomic_exchange(&t->idle_until, due) != 0) {
        return false;
    }
    pthread_mutex_unlock(&t->mutex);
    rest(t, are_all_idle(t->pacer, now));
    pthread_mutex_lock(&t->mutex);
    return true;
}

/* Spins until a time in ns, or until the heap has changed, with the mutex unlocked meanwhile. */
static void spin_until(pacer_thread *t, uint64_t time) {
    atomic_store(&t->has_news, false);
    pthread_mutex_unlock(&t->mutex);
    while (clock_now() < time && !atomic_load_explicit(&t->has_news, memory_order_relaxed)) {
    }
    pthread_mutex_lock(&t->mutex);
}

static void *work(void *argument) {
    pacer_thread *t = argument;
    /* Wakes without timer slack: the system may otherwise wake a thread up to 50 us late. */
    prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
    pthread_mutex_lock(&t->mutex);
    while (!t->must_end) {
        uint64_t now = clock_now(), due = t->count > 0 ? t->heap[0].due : PACER_END;
        if (due <= now) {
            run_due(t, now);
        } else if (become_idle(t, now, due)) {
            continue;
        } else if (due == PACER_END) {
            pthread_cond_wait(&t->changed, &t->mutex);
        } else if (due - now <= t->options->spin) {
            spin_until(t, due);
        } else {
            clock_wait(&t->changed, &t->mutex, due - t->options->spin);
        }
    }
    pthread_mutex_unlock(&t->mutex);
    return NULL;
}

static bool start(pacer_thread *t, pacer *p) {
    t->options = &p->options;
    t->pacer = p;
    atomic_init(&t->idle_until, PACER_END);
    pthread_mutex_init(&t->mutex, NULL);
    clock_condition_init(&t->changed);
    pthread_cond_init(&t->done, NULL);
    t->is_started = pthread_create(&t->thread, NULL, work, t) == 0;
    return t->is_started;
}

pacer *pacer_create(const pacer_options *options) {
    pacer *p = calloc(1, sizeof *p + options->threads * sizeof(pacer_thread));
    if (!p) {
        return NULL;
    }
    p->options = *options;
    for (unsigned i = 0; i < options->threads; i++) {
        p->count = i + 1;
        if (!start(&p->threads[i], p)) {
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
    heap_entry *heap = realloc(t->heap, capacity * sizeof *heap);
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

/* Makes a thread look at its heap again. Called with the mutex held. */
static void wake(pacer_thread *t) {
    atomic_store_explicit(&t->has_news, true, memory_order_relaxed);
    pthread_cond_signal(&t->changed);
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
        if (t->heap[0].task == task) {
            wake(t);
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
    while (task->is_running) {
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
        wake(t);
        pthread_mutex_unlock(&t->mutex);
        if (t->is_started) {
            pthread_join(t->thread, NULL);
        }
        pthread_cond_destroy(&t->changed);
        pthread_cond_destroy(&t->done);
        pthread_mutex_destroy(&t->mutex);
        free(t->heap);
        free(t->memory.bytes);
    }
    free(p);
}
