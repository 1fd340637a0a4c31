/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Dense matrices, for formulations that are stated in matrices, and views of them. A transposed matrix and a block of a
 * matrix are views: they share its numbers.
 */
#ifndef DYNAMICS_CLASSICAL_MATRIX_H
#define DYNAMICS_CLASSICAL_MATRIX_H

#include "../spatial/inertia.h"
#include "scratch.h"

/* Matrix or view of a matrix: its numbers are x[i down + j right]. */
typedef struct matrix {
    int rows, columns;
    size_t down, right; /* distances between neighbours of a column, and of a row */
    real *x;            /* NULL in a scratch that measures */
} matrix;

/* Allocates a matrix of undefined numbers, row-major, from the scratch. */
static inline matrix matrix_take(scratch *s, int rows, int columns) {
    matrix A;
    A.rows = rows, A.columns = columns;
    A.down = (size_t)columns, A.right = 1;
    A.x = scratch_reals(s, (size_t)rows * (size_t)columns);
    return A;
}

/* Returns the row-major matrix of the numbers x. */
static inline matrix matrix_of(real *x, int rows, int columns) {
    matrix A;
    A.rows = rows, A.columns = columns;
    A.down = (size_t)columns, A.right = 1;
    A.x = x;
    return A;
}

static inline matrix matrix_transposed(matrix A) {
    matrix B;
    B.rows = A.columns, B.columns = A.rows;
    B.down = A.right, B.right = A.down;
    B.x = A.x;
    return B;
}

static inline real *matrix_at(matrix A, int i, int j) {
    return &A.x[(size_t)i * A.down + (size_t)j * A.right];
}

/* Returns the block of rows x columns numbers whose first one is at (i, j). */
static inline matrix matrix_block(matrix A, int i, int j, int rows, int columns) {
    matrix B = A;
    B.rows = rows, B.columns = columns;
    B.x = matrix_at(A, i, j);
    return B;
}

/* Sets A = 0. */
void KERNEL(matrix_clear)(matrix A);

/* Sets a square A to the identity. */
void KERNEL(matrix_identity)(matrix A);

/* Computes C = A B. C shares no numbers with A and B. */
void KERNEL(matrix_product)(matrix A, matrix B, matrix C);

/* Computes C += A B. C shares no numbers with A and B. */
void KERNEL(matrix_add_product)(matrix A, matrix B, matrix C);

/* Computes C -= A B. C shares no numbers with A and B. */
void KERNEL(matrix_subtract_product)(matrix A, matrix B, matrix C);

/* ---- Spatial vectors and their maps as matrices, angular part first ---------------------------------------------- */

/* Stores a motion in a column of six numbers. */
void KERNEL(matrix_set_motion)(matrix column, motion m);

/* Stores a force in a column of six numbers. */
void KERNEL(matrix_set_force)(matrix column, force f);

/* Returns the motion in a column of six numbers. */
motion KERNEL(matrix_motion)(matrix column);

/* Returns the force in a column of six numbers. */
force KERNEL(matrix_force)(matrix column);

/* Stores the 6 x 6 matrix of an inertia. */
void KERNEL(matrix_set_inertia)(matrix A, articulated_inertia I);

/* Stores the 6 x 6 matrix that transforms forces of a child to its parent. Its transpose transforms motions of the
 * parent to the child. */
void KERNEL(matrix_set_force_transform)(matrix A, placement X);

#endif
