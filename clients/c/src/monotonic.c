/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Times and waits by the monotonic clock.
 */
#include "monotonic.h"

#include <math.h>

double monotonic_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

struct timespec monotonic_timespec(double time) {
    return (struct timespec){.tv_sec = (time_t)time, .tv_nsec = (long)(fmod(time, 1) * 1e9)};
}

bool monotonic_condition_init(pthread_cond_t *condition) {
    pthread_condattr_t monotonic;
    if (pthread_condattr_init(&monotonic) != 0) {
        return false;
    }
    bool is_set =
        pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC) == 0 && pthread_cond_init(condition, &monotonic) == 0;
    pthread_condattr_destroy(&monotonic);
    return is_set;
}
