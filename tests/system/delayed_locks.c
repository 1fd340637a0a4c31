/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Delays threads at locks, as a preloaded library, so that they meet in rare orders, in which the thread sanitizer
 * detects races. One call in 64 sleeps for up to 1.5 ms, one in 8 yields the processor.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

typedef int mutex_function(pthread_mutex_t *mutex);
typedef int condition_function(pthread_cond_t *condition);

static _Thread_local uint64_t state;

/* Returns random bits of this thread's generator (Marsaglia 2003, "Xorshift RNGs"). */
static uint64_t draw(void) {
    if (state == 0) {
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        state = (uint64_t)now.tv_nsec * 2654435761u + (uintptr_t)&state;
    }
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state >> 20;
}

static void pause_sometimes(void) {
    uint64_t drawn = draw();
    if (drawn % 64 == 0) {
        nanosleep(&(struct timespec){.tv_nsec = (long)(drawn / 64 % 1500) * 1000}, NULL);
    } else if (drawn % 8 == 0) {
        sched_yield();
    }
}

/* Stores the address of the next function of that name, which is the sanitizer's. */
static void find(const char *name, void *function, size_t size) {
    void *symbol = dlsym(RTLD_NEXT, name);
    memcpy(function, &symbol, size);
}

static int delay_mutex(const char *name, pthread_mutex_t *mutex) {
    mutex_function *next;
    find(name, &next, sizeof next);
    pause_sometimes();
    return next(mutex);
}

static int delay_condition(const char *name, pthread_cond_t *condition) {
    condition_function *next;
    find(name, &next, sizeof next);
    pause_sometimes();
    return next(condition);
}

int pthread_mutex_lock(pthread_mutex_t *mutex) {
    return delay_mutex("pthread_mutex_lock", mutex);
}

int pthread_mutex_unlock(pthread_mutex_t *mutex) {
    return delay_mutex("pthread_mutex_unlock", mutex);
}

int pthread_cond_signal(pthread_cond_t *condition) {
    return delay_condition("pthread_cond_signal", condition);
}

int pthread_cond_broadcast(pthread_cond_t *condition) {
    return delay_condition("pthread_cond_broadcast", condition);
}
