/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Splines of degree five.
 */
#ifndef DYNAMICS_SIMULATION_QUINTIC_SPLINE_H
#define DYNAMICS_SIMULATION_QUINTIC_SPLINE_H

#include "coordinate_rows.h"

/* Values of scratch memory for each row. */
enum { QUINTIC_SCRATCH = 4 };

/* Computes v and a of rows 1 to n - 2 of the quintic spline through all rows, whose derivatives up to the fourth are
 * continuous, from v and a of the first and the last row. n is at least 2. `scratch` has n QUINTIC_SCRATCH values. */
void quintic_spline(const coordinate_rows *x, double *scratch);

#endif
