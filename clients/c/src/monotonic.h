/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Times and waits by the monotonic clock, which changes of the system's time do not affect.
 */
#ifndef CLIENT_MONOTONIC_H
#define CLIENT_MONOTONIC_H

#include <pthread.h>
#include <stdbool.h>
#include <time.h>

/* Returns the time of the monotonic clock, in s. */
double monotonic_now(void);

/* Converts a time of monotonic_now, for pthread_cond_timedwait. */
struct timespec monotonic_timespec(double time);

/* Initializes a condition variable whose timed waits use the monotonic clock. Returns false on failure. */
bool monotonic_condition_init(pthread_cond_t *condition);

#endif
