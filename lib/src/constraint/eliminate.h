/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Elimination of equality rows from the response of a problem with other rows.
 *
 *     [R_cc R_ce] [w_c]   [du_c]
 *     [R_ec R_ee] [w_e] = [0   ]        du_c = (R_cc - R_ce R_ee^-1 R_ec) w_c,  R_ee w_e = -R_ec w_c
 *
 * Rows that depend on others, to 1e-10 of the largest response, are left out: du_c is the same for all w_e that
 * satisfy the equations.
 *
 * Source: Golub and Van Loan 2013, "Matrix Computations", section 3.2 (outer product elimination).
 */
#ifndef DYNAMICS_CONSTRAINT_ELIMINATE_H
#define DYNAMICS_CONSTRAINT_ELIMINATE_H

/* Eliminates the rows from `first` on of the symmetric R, m x m. The block of the rows before is then the reduced one.
 */
void eliminate_equalities(int m, int first, double *R);

/* Computes w_e, from w[first] on, from w_c, for an R in which these rows are eliminated. */
void eliminate_recover(int m, int first, const double *R, double *w);

#endif
