/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Closure errors: one number for each row of a constraint, which is zero where the loop is closed. Its rate is A v
 * there.
 */
#ifndef DYNAMICS_CONSTRAINT_CLOSURE_ERROR_H
#define DYNAMICS_CONSTRAINT_CLOSURE_ERROR_H

#include "../model/normal_form.h"

/* Computes the closure errors e of a constraint, c->count numbers. `pose` is the pose of the successor's frame in the
 * predecessor's. q are the coordinates of the model, which only a coupling reads. */
void closure_error(const closure *c, const dyn_pose *pose, const double *q, double *e);

#endif
