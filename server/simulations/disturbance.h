/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Normally distributed numbers that a seed determines: the same on every machine, and to be saved and restored.
 *
 * xoshiro256++ (Blackman and Vigna 2021), seeded by splitmix64; pairs of normal numbers by the polar method (Marsaglia
 * and Bray 1964), of which the second is left out, so that the four words are all the state there is.
 */
#ifndef SERVER_SIMULATIONS_DISTURBANCE_H
#define SERVER_SIMULATIONS_DISTURBANCE_H

#include <stdint.h>

typedef struct disturbance {
    uint64_t words[4];
} disturbance;

void disturbance_seed(disturbance *generator, uint64_t seed);

/* A number of mean 0 and standard deviation 1. */
double disturbance_normal(disturbance *generator);

#endif
