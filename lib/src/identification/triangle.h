/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Triangular factors of matrices with many rows, and singular values.
 */
#ifndef DYNAMICS_IDENTIFICATION_TRIANGLE_H
#define DYNAMICS_IDENTIFICATION_TRIANGLE_H

#include <stdbool.h>
#include <stddef.h>

/* Appends rows to the matrix whose triangular factor is R: afterwards R' R is greater by A' A. R is size x size, upper
 * triangular, row-major; zero for no rows. A is rows x size and is overwritten. `scratch` has `size` numbers. Method:
 * Householder reflections. Cost O(rows size^2). */
void triangle_append(size_t size, double *R, size_t rows, double *A, double *scratch);

/* Computes the singular values of the n x n matrix whose columns, one after the other, are `columns`, in descending
 * order: columns = U S V'. Overwrites `columns` by U S, and stores the columns of V in V. Method: Jacobi rotations of
 * pairs of columns, which finds small singular values to their own precision (Demmel and Veselic 1992). */
void singular_values(size_t n, double *columns, double *V, double *S);

/* Solves A x = b for a symmetric positive definite A, n x n, by Cholesky factors of A scaled to a diagonal of ones.
 * Overwrites the lower triangle of A, and b by x. `scratch` has n numbers. Returns false if A is not positive definite.
 */
bool solve_definite(size_t n, double *A, double *b, double *scratch);

#endif
