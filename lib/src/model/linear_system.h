/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Linear equations with small dense matrices, row-major. All functions work in place, allocate nothing, and are
 * thread-safe.
 *
 * Source: Golub and Van Loan 2013, "Matrix Computations", sections 3.4.8 (complete pivoting) and 4.2.5 (Cholesky).
 */
#ifndef DYNAMICS_MODEL_LINEAR_SYSTEM_H
#define DYNAMICS_MODEL_LINEAR_SYSTEM_H

#include <stdbool.h>

/* Equations K X = B for `right_count` right sides. */
typedef struct linear_system {
    int rows, columns, right_count;
    double *K;  /* rows x columns */
    double *B;  /* rows x right_count */
    int *order; /* columns in the order of their pivots */
} linear_system;

/* Reduces K to the identity in the columns of the pivots (Gauss and Jordan), and B accordingly, with the largest entry
 * of the remainder as pivot. Returns the number of pivots above 1e-9, where the caller has scaled the rows to entries
 * of about one. Row k of B is then the solution for column order[k]. Cost O(rows columns min(rows, columns)). */
int linear_eliminate(const linear_system *s);

/* Solves for all columns: X is columns x right_count, and must not overlap B. Returns false where a pivot is missing.
 * Cost O(columns^3). */
bool linear_solve(const linear_system *s, double *X);

/* Factorizes the symmetric R = L L', n x n with `stride` numbers a row: L replaces the lower triangle, which alone is
 * read. Returns false where R is not positive definite. Cost O(n^3). */
bool linear_factorize(int n, int stride, double *R);

/* Solves L L' X = X in place by the factors; X is n x width. Cost O(n^2 width). */
void linear_apply(int n, int stride, const double *L, int width, double *X);

#endif
