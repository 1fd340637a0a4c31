/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reproducible random numbers for tests. Every test that draws prints its seed; DYNAMICS_TEST_SEED sets another one.
 */
#ifndef DYNAMICS_TESTS_RANDOM_H
#define DYNAMICS_TESTS_RANDOM_H

#include <stdint.h>

typedef struct random_source {
    uint64_t state;
} random_source;

/* Returns a source seeded by DYNAMICS_TEST_SEED, or by `fallback` where it is not set; prints the seed and the property
 * under test. */
random_source random_seed(const char *property, uint64_t fallback);

/* Returns a source for one case that depends on the seed of `base` and on the case's number, but not on what other
 * cases draw. */
random_source random_case(random_source base, uint64_t number);

/* Returns 64 random bits. */
uint64_t random_bits(random_source *random);

/* Returns a number uniform in [low, high). */
double random_uniform(random_source *random, double low, double high);

/* Returns an index uniform in 0 .. count - 1. */
int random_index(random_source *random, int count);

/* Computes a unit vector of `count` numbers, uniform on the sphere. */
void random_unit(random_source *random, int count, double *x);

/* Computes a random vector perpendicular to a unit vector, of length 0.03 to 1. */
void random_perpendicular(random_source *random, const double axis[3], double x[3]);

#endif
