/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reduces a robot to fewer numbers: frames and inertias that give the same joint forces.
 *
 * Frames: the x axis of a revolute joint's body turns to the common normal of its axis and the next one, and the origin
 * moves along the axis to the foot of the common normal with the axis before. The tree transform of a joint is then a
 * turn about x after a shift (a, 0, d), and what is left of a turn about z goes into the offset of the joint's
 * variable: the parameters of Denavit and Hartenberg. That transform becomes a body of its own without inertia or
 * coordinates, so that a vector is carried by two plane turns, of 8 multiplications, and no product of their sines is
 * formed.
 *
 * Inertias: what of a body's inertia a turn about its joint's axis does not change, and what gives no moment about that
 * axis, is as well fixed to the parent: its mass m, the moment m c_z, and a moment about x and y alike. It moves there,
 * body after body from the tips; what reaches the world is gone. This is the grouping of inertial parameters of Gautier
 * and Khalil 1990, "Direct calculation of minimum set of inertial parameters of serial robots". Joint forces, the mass
 * matrix and all that follows from them are the same in exact arithmetic; the wrenches that joints carry are not.
 */
#ifndef DYNAMICS_COMPILE_REDUCE_H
#define DYNAMICS_COMPILE_REDUCE_H

#include <vector>

#include "model/normal_form.h"

/* Rotations whose entries are 0 and +-1 to rounding, made exact. */
void snap_rotations(std::vector<body> &bodies);

void reduce_frames(std::vector<body> &bodies);

/* Which moment is left out beside m and m c_z: I_yy, or the second moment J_zz = (I_xx + I_yy - I_zz) / 2. */
enum class left_out { I_yy, J_zz };

void reduce_inertias(std::vector<body> &bodies, left_out moment);

/* Last, since the bodies are renumbered. For what does not take the first body for the root of the tree. */
void split_transforms(std::vector<body> &bodies);

/* After all of these: what the bodies tell the kernels beside their frames and inertias. Those that only turn about
 * their parent's z axis, as they do behind a split transform, are hinges. */
void restate_for_kernels(std::vector<body> &bodies);

#endif
