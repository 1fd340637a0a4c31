/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Multipliers of equalities that may depend on each other: R lambda = b with R = A M^-1 A', symmetric and positive
 * semidefinite.
 *
 * Pivoting on the diagonal yields P R P' = L L' with as many columns of L as rows are independent, k. The range of L is
 * that of A, so that the solution of least norm is
 *
 *     lambda = L (L'L)^-1 (L'L)^-1 L' b
 *
 * A row is independent as long as its pivot is above a share of its own diagonal entry, and of the largest one.
 *
 * Source: Featherstone and Orin 2000, equation 21 and footnote 3 (the numerical rank test); Golub and Van Loan 2013,
 * section 4.2.8 (pivoted Cholesky), 5.5 (least norm).
 */
#ifndef DYNAMICS_CONSTRAINT_LEAST_NORM_H
#define DYNAMICS_CONSTRAINT_LEAST_NORM_H

#include <stddef.h>
#include <stdint.h>

/* Scratch memory of the solver. */
typedef struct least_norm {
    double *L;       /* m x m, k columns used; rows in the order of R */
    double *pivots;  /* m: diagonal of R less the part that the columns of L explain */
    double *product; /* m x m: factors of L'L, k x k used */
    double *x;       /* m */
} least_norm;

/* Lays out the memory for up to m rows from `base` on; returns its size (carve.h). */
size_t least_norm_lay_out(int m, uintptr_t base, least_norm *s);

/* Factorizes R for least_norm_apply: columns of L, and the factors of L'L. Returns the rank k. Cost O(m k^2). */
int least_norm_factorize(int m, const double *R, least_norm *s);

/* Computes the solution lambda of least norm for the factors of rank k; it may be the same array as b. Cost O(m k). */
void least_norm_apply(int m, int k, const double *b, least_norm *s, double *lambda);

/* Computes the solution lambda of least norm of R lambda = b, m numbers; it may be the same array as b. Returns the
 * rank k. Cost O(m k^2). */
int least_norm_solve(int m, const double *R, const double *b, least_norm *s, double *lambda);

/* Computes the multipliers of least norm that exert n forces: A' lambda = force, by A A' lambda = A force. A is m x n.
 * R, m x m, is scratch memory. Cost O(m^2 (n + m)). */
void least_norm_of_forces(int m, int n, const double *A, const double *force, double *R, least_norm *s, double *lambda);

/* Returns the quotient of the largest and the smallest eigenvalue of R that are not zero, to 1e-6, from the factors of
 * rank k; 1 for rank 0. least_norm_apply must not follow. Cost O(m k^2).
 * Source: Golub and Van Loan 2013, section 8.3.1 (Householder tridiagonalization); Parlett 1964, "Laguerre's method
 * applied to the matrix eigenvalue problem". */
double least_norm_condition(int m, int k, least_norm *s);

/* Returns the same for an R whose m rows are independent, without factors. Cost O(m^3): 0.42 of the instructions of
 * least_norm_factorize and least_norm_condition for 6 rows, 0.34 for 12 (callgrind). */
double least_norm_condition_of_regular(int m, const double *R, least_norm *s);

#endif
