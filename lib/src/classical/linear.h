/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Dense linear algebra of the formulations. Matrices are row-major, symmetric ones n x n.
 */
#ifndef DYNAMICS_CLASSICAL_LINEAR_H
#define DYNAMICS_CLASSICAL_LINEAR_H

#include "../spatial/real.h"

/* Factorizes A = L D L' in place: D on the diagonal, L below it. Reads the lower triangle. */
void KERNEL(factorize_symmetric)(int n, real *A);

/* Solves A x = b from the factors. x holds b before and the solution after. */
void KERNEL(solve_symmetric)(int n, const real *factors, real *x);

/* Computes the inverse of A, n x n, from the factors. */
void KERNEL(invert_symmetric)(int n, const real *factors, real *inverse);

/* Computes y += A x for A of `rows` x `columns`. */
void KERNEL(multiply_add)(int rows, int columns, const real *A, const real *x, real *y);

#endif
