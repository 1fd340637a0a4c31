/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Measuring several things side by side: in each round every one of them gets a slice of time, so that what disturbs
 * the machine disturbs all alike.
 */
#ifndef DYNAMICS_BENCH_MEASURE_H
#define DYNAMICS_BENCH_MEASURE_H

#include <stddef.h>
#include <time.h>

enum { MEASURE_ROUNDS = 31 };

/* One thing to measure: call number `call` of a function, which deals with `states` states. Calls are numbered on from
 * slice to slice, so that none repeats the one before: some libraries remember their last state. */
typedef struct subject {
    void (*run)(void *context, size_t call);
    void *context; /* NULL: there is nothing to measure */
    size_t states;
    size_t next;                      /* number of the next call */
    size_t calls;                     /* in a slice; set by measure */
    double per_state[MEASURE_ROUNDS]; /* ns, of each round; set by measure */
} subject;

/* Rounds (at most MEASURE_ROUNDS) and the length of a slice, which is at least one call. */
typedef struct measure_effort {
    int rounds;
    double slice_ns;
} measure_effort;

/* `clock`: CLOCK_THREAD_CPUTIME_ID for work of this thread alone, else CLOCK_MONOTONIC. */
void measure(subject *subjects, int count, const measure_effort *effort, clockid_t clock);

/* Median over the rounds of the nanoseconds per state; NaN where nothing was measured. */
double measured_time(const subject *s, int rounds);

/* Median over the rounds of the ratio a / b; NaN where one of them was not measured. */
double measured_ratio(const subject *a, const subject *b, int rounds);

#endif
