/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Cholesky factors R = L L' of symmetric matrices, one in each lane, all lanes at once. They serve the lanes whose rows
 * are clearly independent; least_norm.h serves the others.
 *
 * Source: Golub and Van Loan 2013, section 4.2.5.
 */
#ifndef DYNAMICS_CONSTRAINT_LANE_FACTORS_H
#define DYNAMICS_CONSTRAINT_LANE_FACTORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct lane_factors {
    double *L;              /* lower triangle, m x m, packed, with 1 / L_ii on the diagonal */
    double *least;          /* of each lane: least pivot beside the largest diagonal entry */
    unsigned char *regular; /* of each lane: the factors are valid */
} lane_factors;

/* Lays out the memory for up to m rows and `lanes` lanes from `base` on; returns its size (carve.h). */
size_t lane_factors_lay_out(int m, size_t lanes, uintptr_t base, lane_factors *s);

/* Factorizes the packed matrices R, m x m. A lane is regular as long as each pivot is above 1e-6 of its own diagonal
 * entry, and above 1e-10 of the largest one, in that lane. Cost O(m^3). */
void lane_factors_find(int m, size_t lanes, const double *R, lane_factors *s);

/* Solves R x = b in one regular lane; x and b, m numbers each, may be the same array. Cost O(m^2). */
void lane_factors_solve(int m, size_t lanes, const lane_factors *s, size_t lane, const double *b, double *x);

#endif
