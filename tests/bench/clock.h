/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads the clocks of the measurements.
 */
#ifndef DYNAMICS_BENCH_CLOCK_H
#define DYNAMICS_BENCH_CLOCK_H

#include <time.h>

/* Returns the nanoseconds of a clock: CLOCK_MONOTONIC, or CLOCK_THREAD_CPUTIME_ID, which stops while the thread does
 * not run. */
static inline double clock_ns(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return 1e9 * (double)now.tv_sec + (double)now.tv_nsec;
}

#endif
