/*
 * Samples into lanes and back, and the search for NaN and infinity.
 *
 * The algorithms are compiled without regard to the sign of a zero, which then depends on the compiler and the
 * instance. On the way back to the caller every zero becomes a positive one (x + 0), so that a result has the same bits
 * whatever computed it. This file alone is compiled with that regard.
 */
#include "instance.h"

#include <stdint.h>
#include <string.h>

#include "lane_squares.h"

void KERNEL(pack)(const double *rows, size_t stride, size_t width, size_t count, void *packed) {
    real *out = (real *)packed;
#if DYN_LANES > 1
    if (count == DYN_LANES && stride == width) {
        rows_to_lanes(rows, width, out);
        return;
    }
#endif
    for (size_t i = 0; i < width; i++) {
        number lanes[DYN_LANES];
        for (size_t l = 0; l < DYN_LANES; l++) {
            lanes[l] = (number)rows[(l < count ? l : count - 1) * stride + i];
        }
        memcpy(&out[i], lanes, sizeof lanes);
    }
}

/* A packed number. It may lie in the rows that it goes to: one lane computes its results there. */
static inline double number_at(const void *packed, size_t i) {
    number x;
    memcpy(&x, (const char *)packed + i * sizeof x, sizeof x);
    return (double)x;
}

/* From the last number to the first, since in those rows a number is no longer than a double. */
void KERNEL(unpack)(const void *packed, size_t width, size_t count, double *rows) {
#if DYN_LANES > 1
    if (count == DYN_LANES) {
        lanes_to_rows((const real *)packed, width, real_set(0), rows);
        return;
    }
#endif
    for (size_t l = 0; l < count; l++) {
        for (size_t i = width; i-- > 0;) {
            rows[l * width + i] = number_at(packed, i * DYN_LANES + l) + 0.0;
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

/* The bits of a positive number are those of a positive integer, and beyond infinity those of NaN. */
int KERNEL(all_positive)(const void *packed, size_t count) {
#if defined DYN_FLOAT
    typedef int32_t number_bits;
    const number_bits infinity = 0x7f800000;
#else
    typedef int64_t number_bits;
    const number_bits infinity = 0x7ff0000000000000;
#endif
    int positive = 1;
    for (size_t i = 0; i < count * DYN_LANES; i++) {
        number_bits bits;
        memcpy(&bits, (const char *)packed + i * sizeof bits, sizeof bits);
        positive &= (bits > 0) & (bits <= infinity);
    }
    return positive;
}
