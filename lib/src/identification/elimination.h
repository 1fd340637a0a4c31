/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Independent columns of a matrix, and the others as combinations of them.
 */
#ifndef DYNAMICS_IDENTIFICATION_ELIMINATION_H
#define DYNAMICS_IDENTIFICATION_ELIMINATION_H

#include <stddef.h>

/* Reduces A, rows x columns with entries of at most about one, by elimination with full pivoting, until the remainder
 * is below `noise`. Where entries are of one size up to rounding, the column with the lowest number is the pivot, so
 * that the result does not depend on compiler and processor. Returns the rank r. order[0 .. r-1] are then the
 * independent columns, order[r ..] the others. Row i of A holds, at each of the others, its factor of column order[i]:
 * a_c = sum over i < r of A[i][c] a_order[i]. */
size_t eliminate(size_t rows, size_t columns, double noise, double *A, size_t *order);

#endif
