/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Transposition of DYN_LANES full consecutive rows into lanes and back, by square blocks.
 *
 * The model compiler copies this file into its output. So it depends only on `real`, `number`, DYN_LANES, NUMBER_SIZE
 * and libc.
 */
#ifndef DYNAMICS_KERNELS_LANE_SQUARES_H
#define DYNAMICS_KERNELS_LANE_SQUARES_H

#include <stddef.h>
#include <string.h>

#if DYN_LANES > 1

#if defined __AVX__
#include <immintrin.h>
#endif

/* Side of the square blocks of samples and coordinates. A vector holds a row of one block, or of two. */
enum { SIDE = DYN_LANES < 8 ? DYN_LANES : 8 };

/* SIDE doubles of a row, and the numbers they are converted to. */
typedef double row_doubles __attribute__((vector_size(8 * SIDE)));
typedef number row_numbers __attribute__((vector_size(NUMBER_SIZE * SIDE)));

/* Exchanges single lanes between a and b: the odd lanes of a with the even lanes of b. */
static inline void exchange_singles(real *a, real *b) {
    real x = *a, y = *b;
#if DYN_LANES == 2
    *a = __builtin_shufflevector(x, y, 0, 2), *b = __builtin_shufflevector(x, y, 1, 3);
#elif DYN_LANES == 4
    *a = __builtin_shufflevector(x, y, 0, 4, 2, 6), *b = __builtin_shufflevector(x, y, 1, 5, 3, 7);
#elif DYN_LANES == 8
    *a = __builtin_shufflevector(x, y, 0, 8, 2, 10, 4, 12, 6, 14);
    *b = __builtin_shufflevector(x, y, 1, 9, 3, 11, 5, 13, 7, 15);
#else
    *a = __builtin_shufflevector(x, y, 0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30);
    *b = __builtin_shufflevector(x, y, 1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31);
#endif
}

/* Exchanges pairs of lanes between a and b. */
static inline void exchange_pairs(real *a, real *b) {
    real x = *a, y = *b;
#if DYN_LANES == 4
    *a = __builtin_shufflevector(x, y, 0, 1, 4, 5), *b = __builtin_shufflevector(x, y, 2, 3, 6, 7);
#elif DYN_LANES == 8
    *a = __builtin_shufflevector(x, y, 0, 1, 8, 9, 4, 5, 12, 13);
    *b = __builtin_shufflevector(x, y, 2, 3, 10, 11, 6, 7, 14, 15);
#elif DYN_LANES == 16
    *a = __builtin_shufflevector(x, y, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29);
    *b = __builtin_shufflevector(x, y, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31);
#else
    (void)x, (void)y;
#endif
}

/* Exchanges groups of four lanes between a and b. */
static inline void exchange_quadruples(real *a, real *b) {
    real x = *a, y = *b;
#if DYN_LANES == 8
    *a = __builtin_shufflevector(x, y, 0, 1, 2, 3, 8, 9, 10, 11);
    *b = __builtin_shufflevector(x, y, 4, 5, 6, 7, 12, 13, 14, 15);
#elif DYN_LANES == 16
    *a = __builtin_shufflevector(x, y, 0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27);
    *b = __builtin_shufflevector(x, y, 4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31);
#else
    (void)x, (void)y;
#endif
}

/* Transposes each block, number l of x[i] with number i of x[l], except for the exchange of halves. */
static inline void transpose_within_halves(real x[SIDE]) {
    for (int i = 0; i < SIDE && SIDE > 2; i += 2) {
        exchange_singles(&x[i], &x[i + 1]);
    }
    for (int i = 0; i < SIDE && SIDE > 4; i += i % 2 ? 3 : 1) {
        exchange_pairs(&x[i], &x[i + 2]);
    }
}

/* Exchanges the halves of blocks, the last step of the transposition. */
static inline void exchange_halves(real x[SIDE]) {
    for (int i = 0; i < SIDE / 2; i++) {
#if DYN_LANES == 2
        exchange_singles(&x[i], &x[i + 1]);
#elif DYN_LANES == 4
        exchange_pairs(&x[i], &x[i + 2]);
#else
        exchange_quadruples(&x[i], &x[i + 4]);
#endif
    }
}

/* Transposes each block. */
static inline void transpose(real x[SIDE]) {
    transpose_within_halves(x);
    exchange_halves(x);
}

/* Number of doubles of a row that are loaded and stored at once. Vectors of at least four doubles load half a row of a
 * block directly into one half of a vector, which replaces the exchange of halves. */
#if NUMBER_SIZE == 8 && DYN_LANES >= 4
#define BY_HALVES
enum { PART_SIZE = SIDE / 2 };
#else
enum { PART_SIZE = SIDE };
#endif
typedef double part_doubles __attribute__((vector_size(8 * PART_SIZE)));

/* Loads the first `size` doubles, and zeros into the others. */
static inline void load_first(const double *from, size_t size, part_doubles *x) {
#if defined __AVX512F__ && DYN_LANES == 16
    *x = _mm512_maskz_loadu_pd((__mmask8)((1u << size) - 1), from);
#elif defined __AVX__ && DYN_LANES == 8 && defined BY_HALVES
    static const long long mask[2 * PART_SIZE] = {-1, -1, -1, -1};
    *x = _mm256_maskload_pd(from, _mm256_loadu_si256((const __m256i *)&mask[PART_SIZE - size]));
#else
    memset(x, 0, sizeof *x);
    for (size_t i = 0; i < size; i++) {
        (*x)[i] = from[i];
    }
#endif
}

/* Stores the first `size` doubles. */
static inline void store_first(const part_doubles *x, size_t size, double *to) {
#if defined __AVX512F__ && DYN_LANES == 16
    _mm512_mask_storeu_pd(to, (__mmask8)((1u << size) - 1), *x);
#elif defined __AVX__ && DYN_LANES == 8 && defined BY_HALVES
    static const long long mask[2 * PART_SIZE] = {-1, -1, -1, -1};
    _mm256_maskstore_pd(to, _mm256_loadu_si256((const __m256i *)&mask[PART_SIZE - size]), *x);
#else
    for (size_t i = 0; i < size; i++) {
        to[i] = (*x)[i];
    }
#endif
}

/* Part of the columns of a block: `size` doubles of each row, from column `first` on. Where another row follows,
 * PART_SIZE doubles are loaded and stored even beyond the end of the row. The last row is never exceeded. */
typedef struct row_part {
    size_t width, first, size;
} row_part;

/* Returns true if PART_SIZE doubles of row l can be accessed. */
static inline int is_whole(row_part p, size_t l) {
    return p.size >= PART_SIZE || l * p.width + p.first + PART_SIZE <= DYN_LANES * p.width;
}

/* Loads a part of row l. Vectors are passed by reference because without AVX-512 compilers disagree on how to pass
 * eight doubles by value. */
static inline void load_row(const double *rows, row_part p, size_t l, part_doubles *x) {
    const double *from = rows + l * p.width + p.first;
    if (is_whole(p, l)) {
        memcpy(x, from, sizeof *x);
    } else {
        load_first(from, p.size, x);
    }
}

/* Stores a part of row l. The next row overwrites what is stored beyond the end of this one. */
static inline void store_row(const part_doubles *x, row_part p, size_t l, double *rows) {
    double *to = rows + l * p.width + p.first;
    if (is_whole(p, l)) {
        memcpy(to, x, sizeof *x);
    } else {
        store_first(x, p.size, to);
    }
}

/* Returns the columns of a block from `column` on. */
static inline row_part part_of_square(row_part square, size_t column) {
    const row_part part = {square.width, square.first + column, square.size - column};
    return part;
}

#if defined BY_HALVES

/* Loads a block and transposes it. Loads by halves replace the exchange of halves. */
static inline void load_square(const double *rows, row_part square, real x[SIDE]) {
    for (size_t column = 0; column < SIDE; column += PART_SIZE) {
        row_part part = part_of_square(square, column);
        for (size_t l = 0; l < PART_SIZE && column < square.size; l++) {
            part_doubles low, high;
            load_row(rows, part, l, &low);
            load_row(rows, part, PART_SIZE + l, &high);
#if DYN_LANES == 4
            x[column + l] = __builtin_shufflevector(low, high, 0, 1, 2, 3);
#else
            x[column + l] = __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7);
#endif
        }
    }
    transpose_within_halves(x);
}

static inline void store_square(real x[SIDE], row_part square, double *rows) {
    transpose_within_halves(x);
    for (size_t l = 0; l < SIDE; l++) {
        for (size_t column = 0; column < SIDE; column += PART_SIZE) {
            real y = x[column + l % PART_SIZE];
#if DYN_LANES == 4
            part_doubles low = __builtin_shufflevector(y, y, 0, 1), high = __builtin_shufflevector(y, y, 2, 3);
#else
            part_doubles low = __builtin_shufflevector(y, y, 0, 1, 2, 3);
            part_doubles high = __builtin_shufflevector(y, y, 4, 5, 6, 7);
#endif
            if (column < square.size) {
                store_row(l < PART_SIZE ? &low : &high, part_of_square(square, column), l, rows);
            }
        }
    }
}

#else

/* Loads a block and transposes it. */
static inline void load_square(const double *rows, row_part square, real x[SIDE]) {
    for (size_t l = 0; l < SIDE; l++) {
        part_doubles x_l;
        load_row(rows, square, l, &x_l);
        row_numbers low = __builtin_convertvector(x_l, row_numbers);
#if DYN_LANES == 16
        load_row(rows, square, SIDE + l, &x_l);
        row_numbers high = __builtin_convertvector(x_l, row_numbers);
        x[l] = __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
#else
        x[l] = low;
#endif
    }
    transpose(x);
}

static inline void store_square(real x[SIDE], row_part square, double *rows) {
    transpose(x);
    for (size_t l = 0; l < DYN_LANES; l++) {
#if DYN_LANES == 16
        real y = x[l % SIDE];
        row_numbers low = __builtin_shufflevector(y, y, 0, 1, 2, 3, 4, 5, 6, 7);
        row_numbers high = __builtin_shufflevector(y, y, 8, 9, 10, 11, 12, 13, 14, 15);
        row_numbers numbers = l < SIDE ? low : high;
#else
        row_numbers numbers = x[l];
#endif
        part_doubles x_l = __builtin_convertvector(numbers, part_doubles);
        store_row(&x_l, square, l, rows);
    }
}

#endif

/* Loads columns first .. first + size - 1 of DYN_LANES full rows into lanes. */
static inline void pack_square(const double *rows, size_t width, size_t first, size_t size, real *packed) {
    const row_part square = {width, first, size};
    real x[SIDE] = {0};
    load_square(rows, square, x);
    for (size_t i = 0; i < size; i++) {
        packed[first + i] = x[i];
    }
}

/* Stores columns first .. first + size - 1 plus `zero`. A `zero` of +0 turns negative zeros into positive ones; with -0
 * the compiler omits the addition. Adds zero times each number to `spoilt`, which is not zero if a number is NaN or
 * infinite. */
static inline void unpack_square(const real *packed, size_t width, size_t first, size_t size, real zero, double *rows,
                                 real spoilt[2]) {
    const row_part square = {width, first, size};
    real x[SIDE] = {0};
    for (size_t i = 0; i < size; i++) {
        x[i] = packed[first + i] + zero;
        spoilt[i % 2] = real_fma(x[i], real_set(0), spoilt[i % 2]);
    }
    store_square(x, square, rows);
}

/* Loads DYN_LANES full rows into lanes. */
static inline void rows_to_lanes(const double *rows, size_t width, real *packed) {
    size_t done = 0;
    for (; done + SIDE <= width; done += SIDE) {
        pack_square(rows, width, done, SIDE, packed);
    }
    if (done < width) {
        pack_square(rows, width, done, width - done, packed);
    }
}

/* Doubles in a cache line. */
enum { LINE = 8 };

/* Prefetches one cache line of each row before it is stored to. Stores complete in order, and one that misses the cache
 * blocks all later ones. A prefetch of an invalid address has no effect. */
static inline void fetch_lines(const double *rows, size_t width) {
    for (size_t l = 0; l < DYN_LANES; l++) {
        __builtin_prefetch(rows + l * width, 1);
    }
}

/* Stores DYN_LANES full rows. Returns zero unless a number is NaN or infinite. The last lines that it prefetches belong
 * to the following samples. */
static inline real lanes_to_rows(const real *packed, size_t width, real zero, double *rows) {
    size_t squares = width / SIDE * SIDE;
    real spoilt[2] = {real_set(0), real_set(0)};
    if (squares < width) {
        unpack_square(packed, width, squares, width - squares, zero, rows, spoilt);
    }
    for (size_t done = 0; done < squares; done += SIDE) {
        if (done % LINE == 0) {
            fetch_lines(rows + (done + LINE < squares ? done + LINE : DYN_LANES * width), width);
        }
        unpack_square(packed, width, done, SIDE, zero, rows, spoilt);
    }
    return spoilt[0] + spoilt[1];
}

#endif

#endif
