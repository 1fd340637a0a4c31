/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stores columns of motions in one array for each component. In instances of one sample, a vector then loads a
 * component of several columns, and their products are computed at once.
 */
#ifndef DYNAMICS_KERNELS_MOTION_COLUMNS_H
#define DYNAMICS_KERNELS_MOTION_COLUMNS_H

#include "instance.h"

/* Number of columns that are loaded at once. */
#if defined DYN_COLUMN_LANES
enum { COLUMNS_TOGETHER = DYN_COLUMN_LANES };
#else
enum { COLUMNS_TOGETHER = 1 };
#endif

/* Component c of column k (w, then v) is reals[c * each + k]. */
typedef struct motion_columns {
    real *reals;
    size_t each;
} motion_columns;

/* Returns the number of reals for `count` columns. Each component starts at an address that is aligned for vectors. */
static inline size_t motion_columns_room(size_t count) {
    return 6 * ((count + COLUMNS_TOGETHER - 1) / COLUMNS_TOGETHER * COLUMNS_TOGETHER);
}

/* Returns the columns at the start of *memory and advances it. */
static inline motion_columns motion_columns_at(size_t count, void **memory) {
    motion_columns S;
    S.reals = (real *)*memory;
    S.each = motion_columns_room(count) / 6;
    *memory = S.reals + 6 * S.each;
    return S;
}

static inline void motion_columns_set(motion_columns S, int k, motion m) {
    real *x = S.reals + k;
    size_t each = S.each;
    x[0] = m.w.x, x[each] = m.w.y, x[2 * each] = m.w.z;
    x[3 * each] = m.v.x, x[4 * each] = m.v.y, x[5 * each] = m.v.z;
}

static inline motion motion_columns_get(motion_columns S, int k) {
    const real *x = S.reals + k;
    size_t each = S.each;
    return motion_set(vec3_set(x[0], x[each], x[2 * each]), vec3_set(x[3 * each], x[4 * each], x[5 * each]));
}

/* Number of rows that are multiplied at once. */
enum { PRODUCT_ROWS = 8 };

/* M_kj = A_j . B_k for `rows` rows k from `row` on and columns j from `from` to `to` - 1. M has `width` columns.
 * Returns what column_products returns. */
static inline int multiply_columns(motion_columns A, motion_columns B, int row, int rows, int from, int to, int width,
                                   real *M) {
    const matrix_block block = {row, rows, from, to};
    return KERNEL(column_products)(A.reals, B.reals, A.each, block, (size_t)width, M);
}

#endif
