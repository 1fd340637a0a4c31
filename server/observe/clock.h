/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Clocks for deadlines, ages and durations.
 */
#ifndef SERVER_OBSERVE_CLOCK_H
#define SERVER_OBSERVE_CLOCK_H

#include <pthread.h>
#include <stdint.h>
#include <time.h>

/* Nanoseconds in a second. */
#define NANOSECONDS UINT64_C(1000000000)

/* Returns the time of CLOCK_MONOTONIC in ns. */
static inline uint64_t clock_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * NANOSECONDS + (uint64_t)now.tv_nsec;
}

/* Returns the wall time in ns since 1970-01-01 UTC. */
static inline int64_t clock_wall(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * (int64_t)NANOSECONDS + now.tv_nsec;
}

/* Converts a duration in seconds, which must be finite and not negative, to whole nanoseconds. Durations above 1e9 s
 * become 1e9 s. */
static inline uint64_t clock_duration(double seconds) {
    return seconds < 1e9 ? (uint64_t)(seconds * 1e9) : 1000000000 * NANOSECONDS;
}

/* Initializes a condition variable for clock_wait. */
static inline void clock_condition_init(pthread_cond_t *condition) {
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

/* Waits for a condition variable, at most until a time of clock_now. Changes of the wall time do not affect it. */
static inline void clock_wait(pthread_cond_t *condition, pthread_mutex_t *mutex, uint64_t until) {
    const struct timespec end = {.tv_sec = (time_t)(until / NANOSECONDS), .tv_nsec = (long)(until % NANOSECONDS)};
    pthread_cond_timedwait(condition, mutex, &end);
}

#endif
