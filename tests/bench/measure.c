/* SPDX-License-Identifier: BSD-2-Clause */
#include "measure.h"

#include <math.h>
#include <string.h>

#include "clock.h"
#include "statistics.h"

/* Returns the nanoseconds that a number of calls takes. */
static double run_calls(subject *s, size_t calls, clockid_t clock) {
    double start = clock_ns(clock);
    for (size_t i = 0; i < calls; i++) {
        s->run(s->context, s->next++);
    }
    return clock_ns(clock) - start;
}

/* Returns the number of calls that fill a slice of time. Its calls also warm caches and branch predictors. */
static size_t calibrate(subject *s, double slice_ns, clockid_t clock) {
    size_t calls = 1;
    for (;;) {
        double spent = run_calls(s, calls, clock);
        if (spent >= slice_ns / 2) {
            double fitting = round((double)calls * slice_ns / spent);
            return fitting < 1 ? 1 : (size_t)fitting;
        }
        calls *= 2;
    }
}

void measure(subject *subjects, int count, const measure_effort *effort, clockid_t clock) {
    for (int i = 0; i < count; i++) {
        if (subjects[i].context) {
            subjects[i].calls = calibrate(&subjects[i], effort->slice_ns, clock);
        }
    }
    for (int round = 0; round < effort->rounds; round++) {
        for (int i = 0; i < count; i++) {
            subject *s = &subjects[i];
            if (s->context) {
                s->per_state[round] = run_calls(s, s->calls, clock) / (double)(s->calls * s->states);
            }
        }
    }
}

double measured_time(const subject *s, int rounds) {
    double times[MEASURE_ROUNDS];
    if (!s->context) {
        return NAN;
    }
    memcpy(times, s->per_state, sizeof times);
    return median(times, (size_t)rounds);
}

double measured_ratio(const subject *a, const subject *b, int rounds) {
    double ratios[MEASURE_ROUNDS];
    if (!a->context || !b->context) {
        return NAN;
    }
    for (int i = 0; i < rounds; i++) {
        ratios[i] = a->per_state[i] / b->per_state[i];
    }
    return median(ratios, (size_t)rounds);
}
