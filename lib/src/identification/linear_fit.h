/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Least squares, and least squares that are corrected for errors of the matrix, from a triangular factor.
 */
#ifndef DYNAMICS_IDENTIFICATION_LINEAR_FIT_H
#define DYNAMICS_IDENTIFICATION_LINEAR_FIT_H

#include <stdbool.h>
#include <stddef.h>

/* Problem: A x = b, where `triangle` is the factor of (A b), (count + 1) x (count + 1). */
typedef struct linear_problem {
    size_t count, equations;
    const double *triangle;
    const double *prior;  /* count: x in directions that A does not determine */
    const double *errors; /* factor E of the expected errors of (A b), as large as `triangle`; NULL: b alone has them */
    const double *scores; /* factor of the scores of the samples, as large as `triangle`; NULL: not known yet */
} linear_problem;

/* Solution; the arrays are memory of the caller. */
typedef struct linear_solution {
    double *x, *deviations; /* deviations: of noise in b; 0 where x is not determined */
    bool *is_determined;
    int *partner; /* unknown most coupled with one that is not determined, or -1; NULL: not wanted */
    size_t rank;
    double condition;
    double correction; /* factor of E' E, 0 to 1 */
} linear_solution;

/* Numbers of scratch memory. */
size_t linear_fit_scratch(size_t count);

/* Solves the problem by singular values of A with columns of length one. Directions below 1e-9 of the largest singular
 * value are not determined: there x equals the prior. Cost O(count^3).
 *
 * With `errors`, x minimizes |b - A x|^2 - k |E (-x, 1)|^2 (Fuller 1987, section 2.2): errors of A no longer draw x
 * towards zero, and rows of A without errors are as in ordinary least squares. k is 1, or, where the residuals are
 * smaller than errors of that size make them, the least root of det((A b)' (A b) - k E' E) (section 2.5), with which x
 * is that of generalized total least squares (Van Huffel and Vandewalle 1991). Deviations are those of the scores. */
void linear_fit(const linear_problem *problem, double *scratch, linear_solution *solution);

#endif
