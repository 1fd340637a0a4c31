/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Loads samples into lanes, stores results, and checks for NaN and infinity.
 *
 * The compiler options of the algorithms do not preserve the sign of a zero, which then depends on the compiler and the
 * instance. Stores to the rows of the caller make every zero positive (x + 0), so that all instances return the same
 * bits. The compiler options of this file, column_products.c and derivative_rows.c preserve the sign of a zero, NaN and
 * infinity.
 */
#include "instance.h"

#include <float.h>
#include <stdint.h>
#include <string.h>

#include "lane_squares.h"

#if DYN_LANES == 1

/* Loads one sample. Tests for finite numbers by a sum: zero times each number adds up to zero unless one is NaN or
 * infinite. */
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

/* Returns true if a sum is zero in all lanes. */
static inline int is_zero(real sum) {
    uint64_t bits[sizeof(real) / sizeof(uint64_t)], any = 0;
    memcpy(bits, &sum, sizeof bits);
    for (size_t i = 0; i < sizeof bits / sizeof *bits; i++) {
        any |= bits[i];
    }
    return any == 0;
}

/* Returns true if all packed numbers are finite: zero times each adds up to zero. */
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

/* TOGETHER doubles are checked at once. Fewer than MANY results are checked one by one: the processor stalls when it
 * loads several numbers at once that have just been stored one by one. PART is the number of results that are stored
 * and checked at once in a large matrix. */
#if defined __AVX__
enum { TOGETHER = 4, MANY = 24, PART = 1024 };
#else
enum { TOGETHER = 2, MANY = 24, PART = 1024 };
#endif
typedef double doubles __attribute__((vector_size(8 * TOGETHER)));
typedef uint64_t double_bits __attribute__((vector_size(8 * TOGETHER)));

/* Returns a number whose highest bit is set if |x| exceeds the number with the bits `most`. Without the sign, the bits
 * of two numbers have the order of the numbers, and those of NaN come last. */
static inline uint64_t excess(const double *x, uint64_t most) {
    uint64_t bits;
    memcpy(&bits, x, sizeof bits);
    return most - (bits & 0x7fffffffffffffffu);
}

/* Computes `excess` of TOGETHER numbers. */
static inline double_bits excesses(const double *x, uint64_t most) {
    double_bits bits;
    memcpy(&bits, x, sizeof bits);
    return most - (bits & 0x7fffffffffffffffu);
}

/* Returns true if no excess has its highest bit set. */
static inline int has_none(double_bits excesses) {
    uint64_t any = 0;
    for (int i = 0; i < TOGETHER; i++) {
        any |= excesses[i];
    }
    return !(any >> 63);
}

/* Returns true if |x| <= bound for all numbers. The last TOGETHER numbers overlap those that were checked before. */
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

/* Stores numbers plus zero and checks them while they are in registers. A load would wait for the stores. */
static inline int store_many(const double *from, size_t count, double *row) {
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

/* Stores the numbers of one sample, which may already lie in their row. A large matrix is stored part by part, so that
 * each part stays in the cache. */
static inline int store_rows(const void *packed, size_t width, size_t count, double *row) {
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
        within &= store_many(from, PART, row);
    }
    return store_many(from, width, row) & within;
}

#else

/* Returns packed number i. With one lane it may lie in the row that it is stored to. */
static inline double number_at(const void *packed, size_t i) {
    number x;
    memcpy(&x, (const char *)packed + i * sizeof x, sizeof x);
    return (double)x;
}

#if DYN_LANES == 1

/* Stores the numbers of one sample in single precision. It goes from the last number to the first because they may lie
 * in the row, where a double takes more room than a number. */
static inline int store_rows(const void *packed, size_t width, size_t count, double *row) {
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

static inline int store_rows(const void *packed, size_t width, size_t count, double *rows) {
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
    return store_rows(packed, width, count, rows);
}

/* Compares bits as integers: those of a positive number are a positive integer, and those of NaN exceed those of
 * infinity. */
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
