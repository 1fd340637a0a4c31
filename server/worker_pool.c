/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs queued tasks in a pool of threads: users take turns, and the tasks of one user run in their order.
 *
 * `slots` threads run at once. A task that yields or pauses keeps its thread, without a slot, and waits in the line of
 * its user for another turn; a further thread takes the slot. Threads are created when they are needed.
 */
#include "worker_pool.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "observe/clock.h"

typedef struct task {
    struct task *next; /* of its line, or of the unused tasks */
    void (*run)(void *argument);
    void *argument;
    uint64_t arrival; /* ns, CLOCK_MONOTONIC */
} task;

/* Thread whose task waits for another turn. */
typedef struct waiter {
    struct waiter *next;
    pthread_cond_t granted;
    bool has_turn;
} waiter;

/* Waiting tasks of one user: those that have begun, and then the others. The lines that have tasks form a ring. */
typedef struct line {
    struct line *next; /* of the ring, or of the unused lines */
    uint64_t user;
    size_t count;
    task *first, *last;
    waiter *first_waiter, *last_waiter;
} line;

struct worker_pool {
    pthread_mutex_t mutex;
    pthread_cond_t arrived;
    task *tasks, *unused_tasks;
    line *lines, *unused_lines;
    line *turn; /* line whose task has run last: the next one of the ring has its turn; NULL: no task waits */
    atomic_size_t line_count;   /* lines in the ring */
    size_t capacity, count;     /* of the waiting tasks that have not begun */
    size_t begun;               /* tasks that have begun and not ended */
    unsigned slots, free_slots; /* all slots, and those that no thread has */
    unsigned idle, parked;      /* threads that wait for a task; threads of tasks that have begun and have no slot */
    bool is_ending;
    int niceness;
    unsigned thread_count, most_threads;
    pthread_t threads[];
};

/* Task that this thread runs: its user, 0: nobody's; its pool, NULL: none; and the time at which its turn began, ns. */
static _Thread_local uint64_t current_user;
static _Thread_local const worker_pool *current_pool;
static _Thread_local uint64_t turn_begin;

/* Largest part of the waiting tasks that one user may have, as a divisor of the capacity. */
enum { USER_PART = 2 };

/* Threads for each slot: those beyond the first are for tasks that wait for another turn. */
enum { THREADS_OF_SLOT = 16 };

/* Time after which a task leaves its slot to the tasks of other users, ns. */
static const uint64_t TURN_TIME = NANOSECONDS / 1000;

/* ---- lines ------------------------------------------------------------------------------------------------------- */

/* Links all tasks and lines as unused ones. There is a line for each task and each thread. */
static void link_unused(worker_pool *pool) {
    for (size_t i = 0; i < pool->capacity; i++) {
        pool->tasks[i].next = pool->unused_tasks;
        pool->unused_tasks = &pool->tasks[i];
    }
    for (size_t i = 0; i < pool->capacity + pool->most_threads; i++) {
        pool->lines[i].next = pool->unused_lines;
        pool->unused_lines = &pool->lines[i];
    }
}

/* Returns the line of a user, or NULL if none of its tasks waits. Called with the mutex held. */
static line *find_line(const worker_pool *pool, uint64_t user) {
    line *each = pool->turn;
    if (!each) {
        return NULL;
    }
    do {
        each = each->next;
        if (each->user == user) {
            return each;
        }
    } while (each != pool->turn);
    return NULL;
}

/* Adds a line without tasks, which has its turn after all others. Called with the mutex held. */
static line *add_line(worker_pool *pool, uint64_t user) {
    line *added = pool->unused_lines;
    pool->unused_lines = added->next;
    *added = (line){.user = user};
    added->next = pool->turn ? pool->turn->next : added;
    if (pool->turn) {
        pool->turn->next = added;
    }
    pool->turn = added;
    atomic_fetch_add_explicit(&pool->line_count, 1, memory_order_relaxed);
    return added;
}

/* Ends the turn of a line, which follows `before` in the ring, and removes it from the ring if it is empty. A line out
 * of turn leaves the order as it is. Called with the mutex held. */
static void end_turn(worker_pool *pool, line *before, line *own) {
    if (own->first || own->first_waiter) {
        pool->turn = before == pool->turn ? own : pool->turn;
        return;
    }
    before->next = own->next;
    pool->turn = own == pool->turn ? before : pool->turn;
    pool->turn = own->next == own ? NULL : pool->turn;
    own->next = pool->unused_lines;
    pool->unused_lines = own;
    atomic_fetch_sub_explicit(&pool->line_count, 1, memory_order_relaxed);
}

/* Adds a task to its user's line. Returns false if there is no room. Called with the mutex held. */
static bool push_task(worker_pool *pool, uint64_t user, const task *pushed) {
    line *own = find_line(pool, user);
    size_t share = user != 0 && pool->capacity > USER_PART ? pool->capacity / USER_PART : pool->capacity;
    if (pool->count == pool->capacity || (own && own->count >= share)) {
        return false;
    }
    own = own ? own : add_line(pool, user);
    task *t = pool->unused_tasks;
    pool->unused_tasks = t->next;
    *t = *pushed;
    *(own->first ? &own->last->next : &own->first) = t;
    own->last = t;
    own->count++;
    pool->count++;
    return true;
}

/* Removes the first task of a line that has one and no waiter. Called with the mutex held. */
static void pop_task(worker_pool *pool, line *own, task *result) {
    task *t = own->first;
    *result = *t;
    own->first = t->next;
    own->count--;
    pool->count--;
    t->next = pool->unused_tasks;
    pool->unused_tasks = t;
}

/* ---- turns ------------------------------------------------------------------------------------------------------- */

/* Passes a free slot to the first waiter of the line after `before`. Called with the mutex held. */
static void grant(worker_pool *pool, line *before) {
    line *own = before->next;
    waiter *w = own->first_waiter;
    own->first_waiter = w->next;
    w->has_turn = true;
    pool->free_slots--;
    pool->parked--;
    pthread_cond_signal(&w->granted);
    end_turn(pool, before, own);
}

static void *work(void *argument);

/* Creates a thread with all signals blocked, because the loop handles signals. Returns false if the system refuses it.
 * Called with the mutex held. */
static bool add_thread(worker_pool *pool) {
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    bool is_created = pthread_create(&pool->threads[pool->thread_count], NULL, work, pool) == 0;
    pool->thread_count += is_created;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return is_created;
}

/* Finds a thread for the next task while a slot is free: wakes one, or creates one. Where all others are parked or
 * have slots, one that is about to ask for a task takes it. Returns false if there can be none. Called with the mutex
 * held. */
static bool wake_thread(worker_pool *pool) {
    if (pool->idle > 0) {
        pthread_cond_signal(&pool->arrived);
        return true;
    }
    if (pool->thread_count - pool->parked >= pool->slots) {
        return true;
    }
    return pool->thread_count < pool->most_threads && !pool->is_ending && add_thread(pool);
}

/* Returns the line before the next one with a waiter in the order of turns, or NULL. Called with the mutex held. */
static line *find_waiter(const worker_pool *pool) {
    line *before = pool->turn;
    while (!before->next->first_waiter) {
        before = before->next;
        if (before == pool->turn) {
            return NULL;
        }
    }
    return before;
}

/* Passes free slots to those whose turn it is: to tasks that wait, or to a thread that takes a new task. Without a
 * thread for it, new tasks wait until one that has begun ends. Called with the mutex held. */
static void pass_slots(worker_pool *pool) {
    while (pool->free_slots > 0 && pool->turn) {
        line *before = pool->turn->next->first_waiter ? pool->turn : NULL;
        if (!before && wake_thread(pool)) {
            return;
        }
        before = before ? before : find_waiter(pool);
        if (!before) {
            return;
        }
        grant(pool, before);
    }
}

/* Gives up the slot of this thread. Called with the mutex held. */
static void park(worker_pool *pool) {
    pool->free_slots++;
    pool->parked++;
}

/* Waits in the line of a user for a slot. Called with the mutex held by a parked thread. */
static void wait_for_turn(worker_pool *pool, uint64_t user) {
    line *own = find_line(pool, user);
    waiter w = {.has_turn = false};
    pthread_cond_init(&w.granted, NULL);
    own = own ? own : add_line(pool, user);
    *(own->first_waiter ? &own->last_waiter->next : &own->first_waiter) = &w;
    own->last_waiter = &w;
    pass_slots(pool);
    while (!w.has_turn) {
        pthread_cond_wait(&w.granted, &pool->mutex);
    }
    pthread_cond_destroy(&w.granted);
}

/* Returns whether a task of another user waits. Called with the mutex held. */
static bool others_wait(const worker_pool *pool, uint64_t user) {
    return pool->turn && (pool->turn->next != pool->turn || pool->turn->user != user);
}

void worker_pool_yield(void *argument) {
    worker_pool *pool = argument;
    if (current_pool != pool || atomic_load_explicit(&pool->line_count, memory_order_relaxed) == 0 ||
        clock_now() - turn_begin < TURN_TIME) {
        return;
    }
    pthread_mutex_lock(&pool->mutex);
    if (others_wait(pool, current_user)) {
        park(pool);
        wait_for_turn(pool, current_user);
    }
    pthread_mutex_unlock(&pool->mutex);
    turn_begin = clock_now();
}

void worker_pool_pause(void *argument) {
    worker_pool *pool = argument;
    if (current_pool == pool) {
        pthread_mutex_lock(&pool->mutex);
        park(pool);
        pass_slots(pool);
        pthread_mutex_unlock(&pool->mutex);
    }
}

void worker_pool_resume(void *argument) {
    worker_pool *pool = argument;
    if (current_pool == pool) {
        pthread_mutex_lock(&pool->mutex);
        wait_for_turn(pool, current_user);
        pthread_mutex_unlock(&pool->mutex);
        turn_begin = clock_now();
    }
}

/* ---- threads ----------------------------------------------------------------------------------------------------- */

/* Takes the task whose turn it is, and a slot for it, after passing slots to those that have their turn before. Returns
 * false if there is no slot or no task. Called with the mutex held. */
static bool take_task(worker_pool *pool, task *result) {
    while (pool->free_slots > 0 && pool->turn) {
        line *before = pool->turn, *own = before->next;
        if (own->first_waiter) {
            grant(pool, before);
            continue;
        }
        current_user = own->user;
        pop_task(pool, own, result);
        end_turn(pool, before, own);
        pool->free_slots--;
        pool->begun++;
        pass_slots(pool);
        return true;
    }
    return false;
}

/* Waits for a task and takes it. Returns false when the pool is being freed and no task waits. Called with the mutex
 * held. */
static bool await_task(worker_pool *pool, task *result) {
    while (!take_task(pool, result)) {
        if (pool->is_ending && pool->count == 0) {
            return false;
        }
        pool->idle++;
        pthread_cond_wait(&pool->arrived, &pool->mutex);
        pool->idle--;
    }
    return true;
}

/* Returns the slot of a task that has ended. Called with the mutex held. */
static void end_task(worker_pool *pool) {
    pool->free_slots++;
    pool->begun--;
    if (pool->is_ending && pool->count == 0) {
        pthread_cond_broadcast(&pool->arrived);
    }
}

static void *work(void *argument) {
    worker_pool *pool = argument;
    task next;
    if (pool->niceness > 0) {
        setpriority(PRIO_PROCESS, 0, pool->niceness); /* applies to this thread alone on Linux */
    }
    current_pool = pool;
    pthread_mutex_lock(&pool->mutex);
    while (await_task(pool, &next)) {
        pthread_mutex_unlock(&pool->mutex);
        turn_begin = clock_now();
        next.run(next.argument);
        current_user = 0;
        pthread_mutex_lock(&pool->mutex);
        end_task(pool);
    }
    pass_slots(pool);
    pthread_mutex_unlock(&pool->mutex);
    return NULL;
}

/* ---- pool -------------------------------------------------------------------------------------------------------- */

worker_pool *worker_pool_create(unsigned slots, size_t capacity, int niceness) {
    unsigned most_threads = slots * THREADS_OF_SLOT;
    worker_pool *pool = calloc(1, sizeof *pool + most_threads * sizeof(pthread_t));
    task *tasks = calloc(capacity, sizeof *tasks);
    line *lines = calloc(capacity + most_threads, sizeof *lines);
    if (!pool || !tasks || !lines) {
        free(pool);
        free(tasks);
        free(lines);
        return NULL;
    }
    pool->tasks = tasks;
    pool->lines = lines;
    pool->capacity = capacity;
    pool->most_threads = most_threads;
    pool->slots = slots;
    pool->free_slots = slots;
    pool->niceness = niceness;
    link_unused(pool);
    pthread_mutex_init(&pool->mutex, NULL);
    pthread_cond_init(&pool->arrived, NULL);
    pthread_mutex_lock(&pool->mutex);
    while (pool->thread_count < slots && add_thread(pool)) {
    }
    bool is_complete = pool->thread_count == slots;
    pthread_mutex_unlock(&pool->mutex);
    if (!is_complete) {
        worker_pool_free(pool);
        return NULL;
    }
    return pool;
}

bool worker_pool_submit_for(void *argument, uint64_t user, void (*run)(void *task), void *task_argument) {
    worker_pool *pool = argument;
    const task pushed = {.run = run, .argument = task_argument, .arrival = clock_now()};
    pthread_mutex_lock(&pool->mutex);
    bool has_room = !pool->is_ending && push_task(pool, user, &pushed);
    if (has_room) {
        pass_slots(pool);
    }
    pthread_mutex_unlock(&pool->mutex);
    return has_room;
}

bool worker_pool_submit(void *pool, void (*run)(void *task), void *task_argument) {
    return worker_pool_submit_for(pool, current_user, run, task_argument);
}

size_t worker_pool_load(worker_pool *pool) {
    pthread_mutex_lock(&pool->mutex);
    size_t load = pool->count + pool->begun;
    pthread_mutex_unlock(&pool->mutex);
    return load;
}

size_t worker_pool_waiting(worker_pool *pool) {
    pthread_mutex_lock(&pool->mutex);
    size_t waiting = pool->count;
    pthread_mutex_unlock(&pool->mutex);
    return waiting;
}

uint64_t worker_pool_longest_wait(worker_pool *pool) {
    uint64_t now = clock_now(), longest = 0;
    pthread_mutex_lock(&pool->mutex);
    line *each = pool->turn;
    do {
        each = each ? each->next : NULL;
        uint64_t wait = each && each->first && now > each->first->arrival ? now - each->first->arrival : 0;
        longest = wait > longest ? wait : longest;
    } while (each != pool->turn);
    pthread_mutex_unlock(&pool->mutex);
    return longest;
}

void worker_pool_free(worker_pool *pool) {
    if (!pool) {
        return;
    }
    pthread_mutex_lock(&pool->mutex);
    pool->is_ending = true;
    pthread_cond_broadcast(&pool->arrived);
    unsigned thread_count = pool->thread_count;
    pthread_mutex_unlock(&pool->mutex);
    for (unsigned i = 0; i < thread_count; i++) {
        pthread_join(pool->threads[i], NULL);
    }
    pthread_cond_destroy(&pool->arrived);
    pthread_mutex_destroy(&pool->mutex);
    free(pool->tasks);
    free(pool->lines);
    free(pool);
}
