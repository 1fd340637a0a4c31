/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Errors of the columns of a regression that come from errors of recorded velocities and accelerations, or of the
 * positions from which they are derived.
 */
#ifndef DYNAMICS_IDENTIFICATION_RATE_ERRORS_H
#define DYNAMICS_IDENTIFICATION_RATE_ERRORS_H

#include "regression.h"

/* Computes g->errors: for each coordinate the factor E, (count + 1) x (count + 1), whose E' E is the expected sum over
 * its rows of the products of errors of (columns, tau minus known torques), to first order: half of the difference
 * between rows of the motion plus and minus an error. External forces, payloads and gravity are exact, and the torques
 * that payloads need are not. NULL where nothing tells errors. g->rows are those of the factors of g.
 *
 * Given rates: errors of v and a are independent, with variances from differences of fourth order of consecutive
 * samples, which a motion that the samples resolve does not have: mean of their squares / 70 (Gasser, Sroka and
 * Jennen-Steinmetz 1986, with differences of second order). Nothing tells errors where the positions are no motion, as
 * their variance by such differences is more than a hundredth of theirs. Cost 4 nv times that of regression_reduce.
 *
 * Rates from filtered positions: errors of the positions are independent, with the variance that divided differences
 * of sixth order tell, and pass the filter and its spline to q, v and a. The expectation is the mean over 16 draws of
 * random signs (Novick and Stefanski 2002). Cost 32 times that of regression_reduce.
 *
 * Errors: DYN_CANCELLED, DYN_OUT_OF_MEMORY; those of dyn_derive_rates. */
dyn_status rate_errors_read(regression *g, dyn_error *error);

/* Appends to the factor of the errors of a combination of coordinates, (count + 1) x (count + 1), which must be zero:
 * those of all parts but one, coordinate k times weights[k] (NULL: 1). `rows` has as many numbers. */
void rate_errors_combine(regression *g, size_t without, const double *weights, double *combined, double *rows);

/* Returns the share of the errors of one coordinate that is in all parts but one, as a factor of E. */
double rate_errors_share(const regression *g, size_t coordinate, size_t without);

/* Solution whose scores are computed: unknowns are x and, with `gains`, logarithms of gains of tau. */
typedef struct rate_scores {
    size_t size;               /* unknowns and 1 */
    const double *E;           /* size x size: factor of the errors of the rows that were solved */
    double correction;         /* factor of E' E */
    const double *x, *weights; /* count; nv, of the coordinates (NULL: 1) */
    const double *gains;       /* nv (NULL: 1) */
    const size_t *places;      /* nv: number of the gain among the unknowns after x; NULL: none is sought */
} rate_scores;

/* Computes the factor of the scores of the samples, size x size with a last column of zeros: the score of a sample is
 * the sum over its rows of column times residual, minus its part of the expectation, correction E' E (-x, 1). Over
 * g->window samples, products of scores of two samples count by the share of the window that they have in common (Newey
 * and West 1987). Errors: DYN_CANCELLED, DYN_OUT_OF_MEMORY. */
dyn_status rate_errors_scores(regression *g, const rate_scores *solution, double *scores, dyn_error *error);

#endif
