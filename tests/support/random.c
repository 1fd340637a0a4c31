/* SPDX-License-Identifier: BSD-2-Clause */
#include "random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* SplitMix64 (Steele, Lea and Flood 2014). */
uint64_t random_bits(random_source *random) {
    uint64_t z = random->state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

random_source random_seed(const char *property, uint64_t fallback) {
    const char *text = getenv("DYNAMICS_TEST_SEED");
    uint64_t seed = text ? strtoull(text, NULL, 0) : fallback;
    printf("%s: seed %llu\n", property, (unsigned long long)seed);
    return (random_source){seed};
}

random_source random_case(random_source base, uint64_t number) {
    random_source random = {base.state ^ (number * 0xd1342543de82ef95u)};
    random_bits(&random);
    return random;
}

double random_uniform(random_source *random, double low, double high) {
    return low + (high - low) * ((double)(random_bits(random) >> 11) * 0x1p-53);
}

int random_index(random_source *random, int count) {
    return (int)(random_bits(random) % (uint64_t)count);
}

void random_unit(random_source *random, int count, double *x) {
    double square;
    do {
        square = 0;
        for (int i = 0; i < count; i++) {
            x[i] = random_uniform(random, -1, 1);
            square += x[i] * x[i];
        }
    } while (square > 1 || square < 1e-4);
    for (int i = 0; i < count; i++) {
        x[i] /= sqrt(square);
    }
}

void random_perpendicular(random_source *random, const double axis[3], double x[3]) {
    double along = 0, square = 0;
    random_unit(random, 3, x);
    for (int i = 0; i < 3; i++) {
        along += axis[i] * x[i];
    }
    for (int i = 0; i < 3; i++) {
        x[i] -= along * axis[i];
        square += x[i] * x[i];
    }
    if (square < 1e-3) {
        random_perpendicular(random, axis, x);
    }
}
