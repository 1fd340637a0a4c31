/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Gains of drives, estimated together with parameters and terms of drives.
 */
#ifndef DYNAMICS_IDENTIFICATION_GAINS_H
#define DYNAMICS_IDENTIFICATION_GAINS_H

#include "regression.h"

/* Result; the arrays are memory of the caller. */
typedef struct gain_estimates {
    double *gains;           /* nv: factors of the record's tau; 1 for those that are not sought */
    double *gain_deviations; /* nv: standard deviations; 0 for those that are not sought */
    double *deviations;      /* count: of the other unknowns, which those of the gains enlarge */
} gain_estimates;

/* Estimates the gains of the coordinates in r->is_sought, and multiplies r->tau by them. r is the record of g, whose
 * factors are computed afterwards. Minimizes the sum of squares of (tau - model / gain) / deviation, with the deviation
 * of each coordinate's residuals, by the method of Gauss and Newton from the solution of equations that are linear in
 * gains.
 * Errors: DYN_INVALID_ARGUMENT with "gains[3]" where nothing fixes the scale of a gain; DYN_RESOURCE_EXHAUSTED;
 * DYN_CANCELLED; those of dyn_torque_regressor. */
dyn_status gains_estimate(regression *g, record *r, gain_estimates *result, dyn_error *error);

#endif
