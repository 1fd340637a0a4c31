/* SPDX-License-Identifier: BSD-2-Clause */
/* Generates normally distributed random numbers from a seed. */
#include "simulations/disturbance.h"

#include <math.h>

void disturbance_seed(disturbance *generator, uint64_t seed) {
    for (int i = 0; i < 4; i++) {
        seed += UINT64_C(0x9e3779b97f4a7c15);
        uint64_t z = (seed ^ seed >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
        z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
        generator->words[i] = z ^ z >> 31;
    }
}

static uint64_t rotate(uint64_t word, int bits) {
    return word << bits | word >> (64 - bits);
}

static uint64_t next(disturbance *generator) {
    uint64_t *s = generator->words;
    uint64_t result = rotate(s[0] + s[3], 23) + s[0], t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate(s[3], 45);
    return result;
}

/* Returns a uniform random number from -1 to 1 with 53 bits. */
static double uniform(disturbance *generator) {
    return (double)(next(generator) >> 11) * 0x1p-52 - 1;
}

double disturbance_normal(disturbance *generator) {
    double x, square;
    do {
        double y = uniform(generator);
        x = uniform(generator);
        square = x * x + y * y;
    } while (square >= 1 || square == 0);
    return x * sqrt(-2 * log(square) / square);
}
