/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Closure errors: one number for each row of a constraint, which is zero where the loop is closed. Its rate is A v
 * there.
 */
#ifndef DYNAMICS_CONSTRAINT_CLOSURE_ERROR_H
#define DYNAMICS_CONSTRAINT_CLOSURE_ERROR_H

#include "../model/normal_form.h"

/* Computes the closure errors e of a constraint, c->count numbers. `pose` is the pose of the successor's frame in the
 * predecessor's. q are the coordinates of the model, which only constraints of coordinates read. A prescribed motion
 * reads `time`, s. */
void closure_error(const closure *c, const dyn_pose *pose, const double *q, double time, double *e);

/* Prescribed motion of a coordinate at one instant. */
typedef struct prescribed_motion {
    double r, rate, acceleration;
} prescribed_motion;

/* Returns the motion that a constraint prescribes at a time in s; zeros for a constraint that prescribes none. */
prescribed_motion closure_motion(const closure *c, double time);

/* Returns the value of the polynomial of a constraint. */
double closure_polynomial(const closure *c, double x);

#endif
