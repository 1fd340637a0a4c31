/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Evolution strategy with a diagonal covariance matrix (sep-CMA-ES; Ros and Hansen 2008), which minimizes a function
 * without derivatives.
 */
#ifndef DYNAMICS_IDENTIFICATION_EVOLUTION_H
#define DYNAMICS_IDENTIFICATION_EVOLUTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Function to minimize. Returns false to end the method. */
typedef bool (*evolution_function)(void *context, const double *x, double *value);

/* Problem in n unknowns, which start as normal numbers of standard deviation `spread` about zero. */
typedef struct evolution_problem {
    size_t n, trials;
    uint64_t seed;
    double spread;
    evolution_function evaluate;
    void *context;
} evolution_problem;

/* Minimizes with `trials` evaluations. Stores the best x, and the smallest value of the first generation. Returns false
 * when out of memory or when the function ended the method; then *is_ended tells which. */
bool evolution_minimize(const evolution_problem *problem, double *best, double *first, bool *is_ended);

#endif
