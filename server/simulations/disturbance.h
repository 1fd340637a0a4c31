/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Normally distributed random numbers from a seed: equal on every machine. Their state can be saved and restored. The
 * generator is xoshiro256++ (Blackman and Vigna 2021), seeded by splitmix64. Normal numbers come in pairs from the
 * polar method (Marsaglia and Bray 1964); the second of each pair is discarded, so that the four words are the complete
 * state.
 */
#ifndef SERVER_SIMULATIONS_DISTURBANCE_H
#define SERVER_SIMULATIONS_DISTURBANCE_H

#include <stdint.h>

typedef struct disturbance {
    uint64_t words[4];
} disturbance;

void disturbance_seed(disturbance *generator, uint64_t seed);

/* Returns the next number, of mean 0 and standard deviation 1. */
double disturbance_normal(disturbance *generator);

#endif
