/*
 * Full rows of DYN_LANES samples that follow each other, into lanes and back, by squares of DYN_LANES rows and columns.
 *
 * The model compiler copies this file into what it writes, so it needs but `real`, DYN_LANES and libc.
 */
#ifndef DYNAMICS_KERNELS_LANE_SQUARES_H
#define DYNAMICS_KERNELS_LANE_SQUARES_H

#include <stddef.h>
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

/* And back, plus `zero`, which makes all zeros positive ones unless the compiler may leave it out. What is written beyond the end of a row is overwritten by the next row: its columns come later. */
static inline void unpack_square(const real *packed, size_t width, size_t first, size_t size, real zero, double *rows) {
    real x[DYN_LANES] = {0};
    for (size_t i = 0; i < size; i++) {
        x[i] = packed[first + i] + zero;
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

static inline void rows_to_lanes(const double *rows, size_t width, real *packed) {
    size_t done = 0;
    for (; done + DYN_LANES <= width; done += DYN_LANES) {
        pack_square(rows, width, done, DYN_LANES, packed);
    }
    if (done < width) {
        pack_square(rows, width, done, width - done, packed);
    }
}

static inline void lanes_to_rows(const real *packed, size_t width, real zero, double *rows) {
    size_t squares = width / DYN_LANES * DYN_LANES;
    if (squares < width) {
        unpack_square(packed, width, squares, width - squares, zero, rows);
    }
    for (size_t done = 0; done < squares; done += DYN_LANES) {
        unpack_square(packed, width, done, DYN_LANES, zero, rows);
    }
}

#endif

#endif
