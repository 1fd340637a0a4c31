/* SPDX-License-Identifier: BSD-2-Clause */
/* Splits the phases of one computation over the pool. */
#include "methods/team.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

/* Parts that a thread claims at once, and looks at the next phase before a member sleeps. */
enum { CLAIM = 4, LOOKS = 4096, LOOKS_BEFORE_YIELD = 256 };

/* Lower half of a claim while the phase changes: no part is free. */
static const uint64_t CLOSED = UINT32_MAX;

typedef void part_function(void *argument, size_t first, size_t end);

/* State that the threads of a team share. It lives until the last of them has released it. A thread that reads the
 * numbers of another phase than that of the claim fails to claim, because every change of them changes the claim. */
struct team {
    dyn_spread spread;
    service_submit submit;
    void *pool;
    unsigned members; /* to invite; 0 after that */
    atomic_uint references, sleepers;
    atomic_bool has_ended;
    _Atomic uint64_t claim; /* number of the phase in the upper half, first free part in the lower half */
    atomic_size_t count, done;
    part_function *_Atomic part;
    void *_Atomic argument;
    pthread_mutex_t mutex; /* of `arrived` */
    pthread_cond_t arrived;
};

static void release(team *t) {
    if (atomic_fetch_sub(&t->references, 1) == 1) {
        pthread_cond_destroy(&t->arrived);
        pthread_mutex_destroy(&t->mutex);
        free(t);
    }
}

/* Computes parts until none is free. Returns the claim that it has seen last. */
static uint64_t work(team *t) {
    while (true) {
        uint64_t claim = atomic_load(&t->claim), first = claim & UINT32_MAX;
        size_t count = atomic_load(&t->count);
        part_function *part = atomic_load(&t->part);
        void *argument = atomic_load(&t->argument);
        if (first >= count || first == CLOSED) {
            return claim;
        }
        uint64_t taken = count - first < CLAIM ? count - first : CLAIM;
        if (atomic_compare_exchange_strong(&t->claim, &claim, claim + taken)) {
            part(argument, first, first + taken);
            atomic_fetch_add(&t->done, taken);
        }
    }
}

/* Pauses between two looks at a number of another thread. */
static void pause_between(unsigned look) {
    if (look % LOOKS_BEFORE_YIELD == LOOKS_BEFORE_YIELD - 1) {
        sched_yield();
    }
#if defined __x86_64__
    __builtin_ia32_pause();
#endif
}

/* Waits until the claim differs from `seen`, or the team has ended. */
static void await(team *t, uint64_t seen) {
    for (unsigned look = 0; look < LOOKS; look++) {
        if (atomic_load(&t->claim) != seen || atomic_load(&t->has_ended)) {
            return;
        }
        pause_between(look);
    }
    pthread_mutex_lock(&t->mutex);
    atomic_fetch_add(&t->sleepers, 1);
    while (atomic_load(&t->claim) == seen && !atomic_load(&t->has_ended)) {
        pthread_cond_wait(&t->arrived, &t->mutex);
    }
    atomic_fetch_sub(&t->sleepers, 1);
    pthread_mutex_unlock(&t->mutex);
}

static void wake(team *t) {
    if (atomic_load(&t->sleepers) > 0) {
        pthread_mutex_lock(&t->mutex);
        pthread_cond_broadcast(&t->arrived);
        pthread_mutex_unlock(&t->mutex);
    }
}

/* Works on a further thread until the team has ended. */
static void join(void *task) {
    team *t = task;
    while (!atomic_load(&t->has_ended)) {
        await(t, work(t));
    }
    release(t);
}

static void invite(team *t) {
    for (; t->members > 0; t->members--) {
        atomic_fetch_add(&t->references, 1);
        if (!t->submit(t->pool, join, t)) {
            release(t);
        }
    }
}

/* Runs one phase. The calling thread waits for parts that others have claimed. */
static void run(void *context, size_t count, part_function *part, void *argument) {
    team *t = context;
    if (count < TEAM_LEAST_PARTS || count >= CLOSED) {
        part(argument, 0, count);
        return;
    }
    uint64_t phase = (atomic_load(&t->claim) >> 32) + 1;
    atomic_store(&t->claim, phase << 32 | CLOSED);
    atomic_store(&t->count, count);
    atomic_store(&t->part, part);
    atomic_store(&t->argument, argument);
    atomic_store(&t->done, 0);
    atomic_store(&t->claim, phase << 32);
    invite(t);
    wake(t);
    work(t);
    for (unsigned look = 0; atomic_load(&t->done) < count; look++) {
        pause_between(look);
    }
}

team *team_create(service_submit submit, void *pool, unsigned members) {
    team *t = calloc(1, sizeof *t);
    if (t) {
        t->spread = (dyn_spread){run, t};
        t->submit = submit, t->pool = pool, t->members = members;
        atomic_init(&t->references, 1);
        pthread_mutex_init(&t->mutex, NULL);
        pthread_cond_init(&t->arrived, NULL);
    }
    return t;
}

const dyn_spread *team_spread(team *t) {
    return &t->spread;
}

void team_end(team *t) {
    if (t) {
        atomic_store(&t->has_ended, true);
        wake(t);
        release(t);
    }
}
