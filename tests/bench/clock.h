/*
 * Time, for measuring.
 */
#ifndef DYNAMICS_BENCH_CLOCK_H
#define DYNAMICS_BENCH_CLOCK_H

#include <time.h>

/* Nanoseconds of the monotonic clock. */
static inline double clock_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return 1e9 * (double)now.tv_sec + (double)now.tv_nsec;
}

#endif
