/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Samples into lanes and back, and the search for NaN and infinity.
 *
 * The algorithms are compiled without regard to the sign of a zero, which then depends on the compiler and the
 * instance. On the way back to the caller every zero becomes a positive one (x + 0), so that a result has the same bits
 * whatever computed it. This file and column_products.c are compiled with that regard, and with regard to NaN and
 * infinity.
 */
#include "instance.h"

#include <float.h>
#include <stdint.h>
#include <string.h>

#include "lane_squares.h"

#if DYN_LANES == 1

/* Tests for finite numbers by a sum: zero times each number adds up to zero unless one is NaN or infinite. */
int KERNEL(pack)(const double *rows, size_t stride, size_t width, size_t count, void *packed) {
    number *out = (number *)packed, sum = 0;
    (void)stride, (void)count;
    for (size_t i = 0; i < width; i++) {
        out[i] = (number)rows[i];
        sum += out[i] * 0;
    }
    return sum == 0;
}

#else

/* Returns whether a sum is zero in all lanes. */
static inline int is_zero(real sum) {
    uint64_t bits[sizeof(real) / sizeof(uint64_t)], any = 0;
    memcpy(bits, &sum, sizeof bits);
    for (size_t i = 0; i < sizeof bits / sizeof *bits; i++) {
        any |= bits[i];
    }
    return any == 0;
}

/* Returns whether all packed numbers are finite: zero times each adds up to zero. */
static inline int packed_are_finite(const real *packed, size_t width) {
    const real zero = real_set(0);
    real sum = zero, other = zero;
    size_t i = 0;
    for (; i + 2 <= width; i += 2) {
        sum = real_fma(packed[i], zero, sum);
        other = real_fma(packed[i + 1], zero, other);
    }
    if (i < width) {
        sum = real_fma(packed[i], zero, sum);
    }
    return is_zero(sum + other);
}

int KERNEL(pack)(const double *rows, size_t stride, size_t width, size_t count, void *packed) {
    real *out = (real *)packed;
    if (count == DYN_LANES && stride == width) {
        rows_to_lanes(rows, width, out);
        return packed_are_finite(out, width);
    }
    for (size_t i = 0; i < width; i++) {
        number lanes[DYN_LANES];
        for (size_t l = 0; l < DYN_LANES; l++) {
            lanes[l] = (number)rows[(l < count ? l : count - 1) * stride + i];
        }
        memcpy(&out[i], lanes, sizeof lanes);
    }
    return packed_are_finite(out, width);
}

#endif

/* Doubles that are looked at together, and the number from which results are: where each has just been written by
 * itself, the processor waits before it loads several at once, which takes longer than to look at a few one by one. */
#if defined __AVX__
enum { TOGETHER = 4, MANY = 24, PART = 1024 };
#else
enum { TOGETHER = 2, MANY = 24, PART = 1024 };
#endif
typedef double doubles __attribute__((vector_size(8 * TOGETHER)));
typedef uint64_t double_bits __attribute__((vector_size(8 * TOGETHER)));

/* Without their sign, the bits of two numbers are ordered as the numbers are, and those of NaN come last: of one beyond
 * `most`, the highest bit of the difference is set. */
static inline uint64_t excess(const double *x, uint64_t most) {
    uint64_t bits;
    memcpy(&bits, x, sizeof bits);
    return most - (bits & 0x7fffffffffffffffu);
}

static inline double_bits excesses(const double *x, uint64_t most) {
    double_bits bits;
    memcpy(&bits, x, sizeof bits);
    return most - (bits & 0x7fffffffffffffffu);
}

static inline int has_none(double_bits excesses) {
    uint64_t any = 0;
    for (int i = 0; i < TOGETHER; i++) {
        any |= excesses[i];
    }
    return !(any >> 63);
}

/* The last numbers that are looked at together overlap the ones before. */
static inline int are_within(const double *x, size_t count, double bound) {
    uint64_t most;
    double_bits beyond = {0};
    size_t i = 0;
    memcpy(&most, &bound, sizeof most);
    for (; i + TOGETHER <= count; i += TOGETHER) {
        beyond |= excesses(&x[i], most);
    }
    if (i < count && count >= TOGETHER) {
        beyond |= excesses(&x[count - TOGETHER], most);
    } else {
        for (; i < count; i++) {
            beyond[0] |= excess(&x[i], most);
        }
    }
    return has_none(beyond);
}

int KERNEL(all_within)(const double *x, size_t count, double bound) {
    return are_within(x, count, bound);
}

int KERNEL(all_finite)(const double *x, size_t count) {
    return are_within(x, count, DBL_MAX);
}

#if DYN_LANES == 1 && !defined DYN_FLOAT

/* Numbers plus zero, which are looked at as they pass: loaded again, they would wait for those just written. */
static inline int give_many(const double *from, size_t count, double *row) {
    const double bound = DBL_MAX;
    uint64_t most;
    const size_t together = count / TOGETHER * TOGETHER;
    double_bits beyond = {0};
    memcpy(&most, &bound, sizeof most);
    for (size_t i = 0; i < together; i += TOGETHER) {
        doubles x;
        memcpy(&x, &from[i], sizeof x);
        x += 0.0;
        memcpy(&row[i], &x, sizeof x);
        beyond |= excesses((const double *)&x, most);
    }
    for (size_t i = together; i < count; i++) {
        double x = from[i] + 0.0;
        row[i] = x;
        beyond[0] |= excess(&x, most);
    }
    return has_none(beyond);
}

/* The numbers of one sample, which may lie in their row; a large matrix part after part, while it is in the cache. */
static inline int give_rows(const void *packed, size_t width, size_t count, double *row) {
    const double *from = (const double *)packed;
    const double bound = DBL_MAX;
    uint64_t most, beyond = 0;
    (void)count;
    memcpy(&most, &bound, sizeof most);
    if (width < MANY) {
        for (size_t i = 0; i < width; i++) {
            row[i] = from[i] + 0.0;
            beyond |= excess(&row[i], most);
        }
        return !(beyond >> 63);
    }
    int within = 1;
    for (; width >= 2 * PART; from += PART, row += PART, width -= PART) {
        within &= give_many(from, PART, row);
    }
    return give_many(from, width, row) & within;
}

#else

/* A packed number. Of one lane it may lie in the row that it goes to. */
static inline double number_at(const void *packed, size_t i) {
    number x;
    memcpy(&x, (const char *)packed + i * sizeof x, sizeof x);
    return (double)x;
}

#if DYN_LANES == 1

/* From the last number to the first, since in the row a number is no longer than a double. */
static inline int give_rows(const void *packed, size_t width, size_t count, double *row) {
    typedef number numbers __attribute__((vector_size(sizeof(number) * TOGETHER)));
    const double bound = DBL_MAX;
    uint64_t most;
    double_bits beyond = {0};
    size_t i = width;
    (void)count;
    memcpy(&most, &bound, sizeof most);
    for (; width >= MANY && i >= TOGETHER; i -= TOGETHER) {
        numbers x;
        memcpy(&x, (const char *)packed + (i - TOGETHER) * sizeof(number), sizeof x);
        doubles y = __builtin_convertvector(x, doubles) + 0.0;
        memcpy(&row[i - TOGETHER], &y, sizeof y);
        beyond |= excesses((const double *)&y, most);
    }
    while (i-- > 0) {
        row[i] = number_at(packed, i) + 0.0;
        beyond[0] |= excess(&row[i], most);
    }
    return has_none(beyond);
}

#else

static inline int give_rows(const void *packed, size_t width, size_t count, double *rows) {
    for (size_t l = 0; l < count; l++) {
        for (size_t i = 0; i < width; i++) {
            rows[l * width + i] = number_at(packed, i * DYN_LANES + l) + 0.0;
        }
    }
    return are_within(rows, count * width, DBL_MAX);
}

#endif

#endif

int KERNEL(unpack)(const void *packed, size_t width, size_t count, double *rows) {
#if DYN_LANES > 1
    if (count == DYN_LANES) {
        return is_zero(lanes_to_rows((const real *)packed, width, real_set(0), rows));
    }
#endif
    return give_rows(packed, width, count, rows);
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
