/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Displacement of a joint's child link.
 */
#ifndef DYNAMICS_MODEL_JOINT_DISPLACEMENT_H
#define DYNAMICS_MODEL_JOINT_DISPLACEMENT_H

#include <dynamics/model.h>

/* Returns the pose of the child link in the joint frame. `q` holds the joint's own variables, as many as its type has,
 * as in model.h; a quaternion may have any length but zero. */
dyn_pose joint_displacement(const dyn_joint *joint, const double *q);

/* Returns the displacement of one motion of a custom joint by the value of its function. */
dyn_pose motion_displacement(const dyn_joint_motion *motion, double value);

/* Computes the pose of B in A from the pose of A in B; out is not `pose`. */
void pose_invert(const dyn_pose *pose, dyn_pose *out);

#endif
