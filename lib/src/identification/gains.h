/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Gains of drives, estimated together with parameters and terms of drives.
 */
#ifndef DYNAMICS_IDENTIFICATION_GAINS_H
#define DYNAMICS_IDENTIFICATION_GAINS_H

#include "regression.h"

/* Number that stands for no part of a record. */
static const size_t DYN_NO_PART = (size_t)-1;

/* Result; the arrays are memory of the caller. */
typedef struct gain_estimates {
    double *gains;           /* nv: factors of the record's tau; 1 for those that are not sought */
    double *gain_deviations; /* nv: standard deviations; 0 for those that are not sought */
    double *x, *deviations;  /* count: the other unknowns, and their standard deviations */
} gain_estimates;

typedef struct gain_search gain_search;

/* Creates the search for the gains of the coordinates in r->is_sought. r is the record of g; both must outlive it. The
 * caller frees it with gains_free, after an error too. */
dyn_status gains_create(regression *g, const record *r, gain_search **search, dyn_error *error);

/* Reads the rows of the record as they are now, without weights, or with those of g; with DYN_ESTIMATOR_TOTAL also
 * g->errors. */
dyn_status gains_read(gain_search *search, bool is_weighted, dyn_error *error);

/* Estimates gains from all parts of the record but one (DYN_NO_PART: from all). Minimizes the sum of squares of (tau -
 * model / gain) / deviation, with the deviation of each coordinate's residuals, by the method of Gauss and Newton from
 * the solution of equations that are linear in gains. With g->errors, the sum of squares is corrected for the errors
 * of the rates, as in linear_fit, and deviations from all parts are those of the scores.
 * Errors: DYN_INVALID_ARGUMENT with "gains[3]" where nothing fixes the scale of a gain. */
dyn_status gains_estimate(gain_search *search, size_t without, gain_estimates *result, dyn_error *error);

/* Computes the factors of g for nv gains. */
dyn_status gains_apply(gain_search *search, const double *gains, dyn_error *error);

void gains_free(gain_search *search);

#endif
