/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Difference of two configurations of one joint.
 */
#ifndef DYNAMICS_DYNAMICS_JOINT_DIFFERENCE_H
#define DYNAMICS_DYNAMICS_JOINT_DIFFERENCE_H

#include <dynamics/model.h>

/* Computes v = q_1 (-) q_0 for one joint: nq coordinates each, nv numbers. */
void dyn_joint_difference(const dyn_joint *joint, const double *q_0, const double *q_1, double *v);

#endif
