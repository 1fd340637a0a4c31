/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Measures subjects side by side: in each round every subject gets a slice of time, so that disturbances of the machine
 * affect all subjects.
 */
#ifndef DYNAMICS_BENCH_MEASURE_H
#define DYNAMICS_BENCH_MEASURE_H

#include <stddef.h>
#include <time.h>

enum { MEASURE_ROUNDS = 31 };

/* Subject of a measurement: call number `call` of a function, which computes `states` states. The numbers increase over
 * all slices, so that no call repeats its predecessor: some libraries cache their last state. */
typedef struct subject {
    void (*run)(void *context, size_t call);
    void *context; /* NULL: nothing to measure */
    size_t states;
    size_t next;                      /* number of the next call */
    size_t calls;                     /* in a slice; set by measure */
    double per_state[MEASURE_ROUNDS]; /* ns, of each round; set by measure */
} subject;

/* Number of rounds (at most MEASURE_ROUNDS) and length of a slice, which contains at least one call. */
typedef struct measure_effort {
    int rounds;
    double slice_ns;
} measure_effort;

/* Measures the subjects. `clock` is CLOCK_THREAD_CPUTIME_ID for work of this thread alone, otherwise
 * CLOCK_MONOTONIC. */
void measure(subject *subjects, int count, const measure_effort *effort, clockid_t clock);

/* Returns the median over the rounds of the nanoseconds per state; NaN where nothing was measured. */
double measured_time(const subject *s, int rounds);

/* Returns the median over the rounds of the ratio a / b; NaN where one of them was not measured. */
double measured_ratio(const subject *a, const subject *b, int rounds);

#endif
