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

/* Number l of x[i] changes places with number i of x[l]. */
static inline void transpose(real x[DYN_LANES]) {
    for (int i = 0; i < DYN_LANES; i += 2) {
        exchange_singles(&x[i], &x[i + 1]);
    }
    for (int i = 0; i < DYN_LANES / 4 * 4; i += i % 2 ? 3 : 1) {
        exchange_pairs(&x[i], &x[i + 2]);
    }
    for (int i = 0; i < DYN_LANES / 8 * 4; i++) {
        exchange_quadruples(&x[i], &x[i + 4]);
    }
}

/* Doubles from `first` on of row l that a square of `size` columns may touch: all of a lane's, beyond the end of the
 * row too, but not beyond that of the last row. */
static inline size_t reach(size_t width, size_t first, size_t size, size_t l) {
    return l * width + first + DYN_LANES <= DYN_LANES * width ? DYN_LANES : size;
}

/* Columns first .. first + size - 1 of full rows that follow each other, into lanes. */
static inline void pack_square(const double *rows, size_t width, size_t first, size_t size, real *packed) {
    real x[DYN_LANES];
    for (size_t l = 0; l < DYN_LANES; l++) {
        const double *from = rows + l * width + first;
        if (reach(width, first, size, l) == DYN_LANES) {
            memcpy(&x[l], from, sizeof x[l]);
        } else {
            double row[DYN_LANES] = {0};
            for (size_t i = 0; i < size; i++) {
                row[i] = from[i];
            }
            memcpy(&x[l], row, sizeof row);
        }
    }
    transpose(x);
    for (size_t i = 0; i < size; i++) {
        packed[first + i] = x[i];
    }
}

/* And back. What is written beyond the end of a row is overwritten by the next row: its columns come later. */
static inline void unpack_square(const real *packed, size_t width, size_t first, size_t size, double *rows) {
    real x[DYN_LANES] = {0};
    for (size_t i = 0; i < size; i++) {
        x[i] = packed[first + i] + 0.0;
    }
    transpose(x);
    for (size_t l = 0; l < DYN_LANES; l++) {
        double *to = rows + l * width + first;
        if (reach(width, first, size, l) == DYN_LANES) {
            memcpy(to, &x[l], sizeof x[l]);
        } else {
            double row[DYN_LANES];
            memcpy(row, &x[l], sizeof row);
            for (size_t i = 0; i < size; i++) {
                to[i] = row[i];
            }
        }
    }
}

#endif

void KERNEL(pack)(const double *rows, size_t stride, size_t width, size_t count, void *packed) {
    real *out = (real *)packed;
#if DYN_LANES > 1
    size_t done = 0;
    if (count == DYN_LANES && stride == width) {
        for (; done + DYN_LANES <= width; done += DYN_LANES) {
            pack_square(rows, width, done, DYN_LANES, out);
        }
        if (done < width) {
            pack_square(rows, width, done, width - done, out);
        }
        return;
    }
#endif
    for (size_t i = 0; i < width; i++) {
        double lanes[DYN_LANES];
        for (size_t l = 0; l < DYN_LANES; l++) {
            lanes[l] = rows[(l < count ? l : count - 1) * stride + i];
        }
        memcpy(&out[i], lanes, sizeof lanes);
    }
}

void KERNEL(unpack)(const void *packed, size_t width, size_t count, double *rows) {
#if DYN_LANES > 1
    if (count == DYN_LANES) {
        size_t squares = width / DYN_LANES * DYN_LANES;
        if (squares < width) {
            unpack_square((const real *)packed, width, squares, width - squares, rows);
        }
        for (size_t done = 0; done < squares; done += DYN_LANES) {
            unpack_square((const real *)packed, width, done, DYN_LANES, rows);
        }
        return;
    }
#endif
    const double *in = (const double *)packed;
    for (size_t l = 0; l < count; l++) {
        for (size_t i = 0; i < width; i++) {
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
