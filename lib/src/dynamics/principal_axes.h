/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Eigenvalues and eigenvectors of small symmetric matrices.
 */
#ifndef DYNAMICS_DYNAMICS_PRINCIPAL_AXES_H
#define DYNAMICS_DYNAMICS_PRINCIPAL_AXES_H

#include <stddef.h>

/* Replaces a symmetric positive definite matrix, n x n, by its unit eigenvectors, one in each row, and computes its
 * eigenvalues, the largest first. The largest component of an eigenvector is positive. Cost O(n^3).
 *
 * One-sided Jacobi rotations make the rows of A orthogonal. They then are lambda_i v_i', each lambda_i to its own
 * precision, however much larger others are.
 * Source: Hestenes 1958; Demmel and Veselic 1992. */
void dyn_principal_axes(size_t n, double *A, double *eigenvalues);

/* Chooses the axes of a body, one in each row, whose principal moments are the largest first: a right-handed frame that
 * does not depend on rounding errors, as manipulability.h documents it for dyn_principal_moments. */
void dyn_choose_body_axes(const double moments[3], double axes[9]);

#endif
