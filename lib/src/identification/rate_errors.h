/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Errors of the columns of a regression that come from errors of recorded velocities and accelerations.
 */
#ifndef DYNAMICS_IDENTIFICATION_RATE_ERRORS_H
#define DYNAMICS_IDENTIFICATION_RATE_ERRORS_H

#include "regression.h"

/* Finds the standard deviations of independent errors of v (nv) and then a (nv) from differences of fourth order of
 * consecutive samples, which a motion that the samples resolve does not have: variance = mean of their squares / 70
 * (Gasser, Sroka and Jennen-Steinmetz 1986, with differences of second order). Returns false, with zeros, where nothing
 * tells them: the rates are derived from positions, or the positions are no motion, as the variance by their own
 * differences is more than a hundredth of theirs. Cost O(n nv). */
bool rate_errors_find(const record *r, double *deviations);

/* Computes the factor E, (count + 1) x (count + 1), whose E' E is the expected sum over rows of the products of errors
 * of (columns, tau), to first order: half of the difference between rows at v + d and v - d, and at a + d and a - d,
 * for each coordinate. Known loads and gravity count as exact. Cost 4 nv times that of regression_reduce. Errors:
 * DYN_CANCELLED, DYN_OUT_OF_MEMORY. */
dyn_status rate_errors_factor(regression *g, const double *deviations, double *E, dyn_error *error);

/* Computes the factor of the scores of the samples, (count + 1) x (count + 1) with a last column of zeros: the score of
 * a sample is the sum over its rows of column times residual, minus its part of the expectation, correction E' E
 * (-x, 1). Errors as above. */
dyn_status rate_errors_scores(regression *g, const double *E, double correction, const double *x, double *scores,
                              dyn_error *error);

#endif
