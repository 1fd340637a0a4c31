/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Products of columns of motions: M_kj = A_j . B_k for some rows k of M and many columns j.
 *
 * In instances of one sample that have vectors, the lanes hold columns, and the products are stored as unpack stores
 * them. So a large matrix is written once, in the order of memory. The compiler options of this file preserve the sign
 * of a zero, NaN and infinity, as those of lanes.c do.
 */
#include <stdint.h>

#include "entry_lanes.h"
#include "finished_numbers.h"
#include "motion_columns.h"

/* Prefetches a line before it is stored to. Stores complete in order, and one that misses the first-level cache blocks
 * all later ones. In other instances, stores are far apart. */
static inline void prefetch_line(const entry *line) {
#if defined DYN_COLUMN_LANES
    __builtin_prefetch(line, 1);
#else
    (void)line;
#endif
}

/* Loads one column into all lanes. */
KERNEL_STEP force spread_column(const entry *B, size_t each) {
    return force_set(vec3_set(spread_entry(B[0]), spread_entry(B[each]), spread_entry(B[2 * each])),
                     vec3_set(spread_entry(B[3 * each]), spread_entry(B[4 * each]), spread_entry(B[5 * each])));
}

/* Multiplies `count` columns from A on by the columns B of `rows` rows, and stores the products to M. */
KERNEL_STEP void multiply(const entry *A, size_t each, int count, const force *B, int rows, size_t width, entry *M,
                          real *zeros) {
    motion columns = load_columns(A, each, count);
    for (int k = 0; k < rows; k++) {
        prefetch_line(M + (size_t)k * width + ENTRIES);
        store_entries(finish_number(spatial_dot(columns, B[k]), zeros), count, M + (size_t)k * width);
    }
}

/* Multiplies `count` columns by the columns of `rows` rows, at most PRODUCT_ROWS. In the first row, all vectors but the
 * first and the last one are stored to aligned addresses. The first and the last one overlap their neighbours. */
KERNEL_STEP void multiply_rows(const entry *A, const entry *B, size_t each, int count, int rows, size_t width, entry *M,
                               real *zeros) {
    force spread[PRODUCT_ROWS];
    for (int k = 0; k < rows; k++) {
        spread[k] = spread_column(B + k, each);
    }
    if (count < ENTRIES) {
        multiply(A, each, count, spread, rows, width, M, zeros);
        return;
    }
    multiply(A, each, ENTRIES, spread, rows, width, M, zeros);
    int j = ENTRIES - (int)((uintptr_t)M / sizeof *M % ENTRIES);
    for (; j + ENTRIES <= count; j += ENTRIES) {
        multiply(A + j, each, ENTRIES, spread, rows, width, M + j, zeros);
    }
    if (j < count) {
        j = count - ENTRIES;
        multiply(A + j, each, ENTRIES, spread, rows, width, M + j, zeros);
    }
}

int KERNEL(column_products)(const void *A, const void *B, size_t each, matrix_block block, size_t width, void *M) {
    const entry *columns = (const entry *)A + block.from, *of_rows = (const entry *)B + block.row;
    entry *products = (entry *)M + (size_t)block.row * width + block.from;
    int count = block.to - block.from, rows = block.rows;
    real zeros = real_set(0);
    if (count <= 0) {
        return 1;
    }
    for (; rows >= PRODUCT_ROWS; rows -= PRODUCT_ROWS, of_rows += PRODUCT_ROWS, products += PRODUCT_ROWS * width) {
        multiply_rows(columns, of_rows, each, count, PRODUCT_ROWS, width, products, &zeros);
    }
    for (; rows > 0; rows--, of_rows++, products += width) {
        multiply_rows(columns, of_rows, each, count, 1, width, products, &zeros);
    }
    return are_zero(zeros);
}
