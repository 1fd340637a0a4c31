/*
 * Samples into lanes and back, and the search for NaN and infinity.
 *
 * The algorithms are compiled without regard to the sign of a zero, which then depends on the compiler and the instance.
 * On the way back to the caller every zero becomes a positive one (x + 0), so that a result has the same bits whatever
 * computed it. This file alone is compiled with that regard.
 */
#include "instance.h"

#include <stdint.h>
#include <string.h>

void KERNEL(pack)(const double *rows, size_t stride, size_t width, size_t count, void *packed) {
    const double *row[DYN_LANES];
    real *out = (real *)packed;
    for (size_t l = 0; l < DYN_LANES; l++) {
        row[l] = rows + (l < count ? l : count - 1) * stride;
    }
    for (size_t i = 0; i < width; i++) {
        double lanes[DYN_LANES];
        for (size_t l = 0; l < DYN_LANES; l++) {
            lanes[l] = row[l][i];
        }
        memcpy(&out[i], lanes, sizeof lanes);
    }
}

#if DYN_LANES > 1

/* Exchanges, between a and b, the halves of each group of 2 lanes (or 4, or 8). */
static inline void exchange_singles(real *a, real *b) {
    real x = *a, y = *b;
#if DYN_LANES == 2
    *a = __builtin_shufflevector(x, y, 0, 2), *b = __builtin_shufflevector(x, y, 1, 3);
#elif DYN_LANES == 4
    *a = __builtin_shufflevector(x, y, 0, 4, 2, 6), *b = __builtin_shufflevector(x, y, 1, 5, 3, 7);
#else
    *a = __builtin_shufflevector(x, y, 0, 8, 2, 10, 4, 12, 6, 14);
    *b = __builtin_shufflevector(x, y, 1, 9, 3, 11, 5, 13, 7, 15);
#endif
}

static inline void exchange_pairs(real *a, real *b) {
    real x = *a, y = *b;
#if DYN_LANES == 4
    *a = __builtin_shufflevector(x, y, 0, 1, 4, 5), *b = __builtin_shufflevector(x, y, 2, 3, 6, 7);
#elif DYN_LANES == 8
    *a = __builtin_shufflevector(x, y, 0, 1, 8, 9, 4, 5, 12, 13);
    *b = __builtin_shufflevector(x, y, 2, 3, 10, 11, 6, 7, 14, 15);
#else
    (void)x, (void)y;
#endif
}

static inline void exchange_quadruples(real *a, real *b) {
    real x = *a, y = *b;
#if DYN_LANES == 8
    *a = __builtin_shufflevector(x, y, 0, 1, 2, 3, 8, 9, 10, 11);
    *b = __builtin_shufflevector(x, y, 4, 5, 6, 7, 12, 13, 14, 15);
#else
    (void)x, (void)y;
#endif
}

/* Number l of in[i] becomes number i of row l. */
static inline void unpack_square(const real *in, size_t width, double *rows) {
    real x[DYN_LANES];
    memcpy(x, in, sizeof x);
    for (int i = 0; i < DYN_LANES; i += 2) {
        exchange_singles(&x[i], &x[i + 1]);
    }
    for (int i = 0; i < DYN_LANES / 4 * 4; i += i % 2 ? 3 : 1) {
        exchange_pairs(&x[i], &x[i + 2]);
    }
    for (int i = 0; i < DYN_LANES / 8 * 4; i++) {
        exchange_quadruples(&x[i], &x[i + 4]);
    }
    for (size_t l = 0; l < DYN_LANES; l++) {
        x[l] += 0.0;
        memcpy(rows + l * width, &x[l], sizeof x[l]);
    }
}

#endif

void KERNEL(unpack)(const void *packed, size_t width, size_t count, double *rows) {
    size_t done = 0;
#if DYN_LANES > 1
    for (; count == DYN_LANES && done + DYN_LANES <= width; done += DYN_LANES) {
        unpack_square((const real *)packed + done, width, rows + done);
    }
#endif
    const double *in = (const double *)packed;
    for (size_t l = 0; l < count; l++) {
        for (size_t i = done; i < width; i++) {
            rows[l * width + i] = in[i * DYN_LANES + l] + 0.0;
        }
    }
}

/* Without their sign, the bits of two numbers are ordered as the numbers are, and those of NaN come last. */
int KERNEL(all_within)(const double *x, size_t count, double bound) {
    uint64_t most, beyond = 0;
    memcpy(&most, &bound, sizeof most);
    for (size_t i = 0; i < count; i++) {
        uint64_t bits;
        memcpy(&bits, &x[i], sizeof bits);
        beyond |= most - (bits & 0x7fffffffffffffffu);
    }
    return !(beyond >> 63);
}

/* The exponent of NaN and infinity is all ones: one more and it runs over into the sign. */
int KERNEL(all_finite)(const double *x, size_t count) {
    uint64_t overflow = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t bits;
        memcpy(&bits, &x[i], sizeof bits);
        overflow |= (bits & 0x7ff0000000000000u) + 0x0010000000000000u;
    }
    return !(overflow >> 63);
}
