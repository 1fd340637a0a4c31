/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Closure errors: positions of constraints that are zero where the loops are closed. Their rate is A v there.
 */
#ifndef DYNAMICS_CONSTRAINT_CLOSURE_ERROR_H
#define DYNAMICS_CONSTRAINT_CLOSURE_ERROR_H

#include "../model/normal_form.h"

/* Computes the errors of a constraint's rows. `pose` is that of the successor in the predecessor, q the coordinates,
 * which only a coupling reads. */
void closure_error(const closure *c, const dyn_pose *pose, const double *q, double *e);

#endif
