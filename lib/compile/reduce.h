/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reduction of a robot to fewer parameters: frames and inertias that cause the same joint forces.
 *
 * Frames: the x axis of a revolute joint's body is turned to the common normal of its axis and the next one, and the
 * origin moves along the axis to the foot of the common normal with the previous axis. The tree transform of a joint is
 * then a rotation about x after a shift (a, 0, d), and the remaining rotation about z is added to the offset of the
 * joint variable. These are the parameters of Denavit and Hartenberg. The tree transform becomes a body of its own
 * without inertia or coordinates. So two plane rotations, of 8 multiplications, transform a vector, and no product of
 * their sines is computed.
 *
 * Inertias: the part of a body's inertia that a rotation about its joint's axis does not change, and that causes no
 * moment about that axis, can be fixed to the parent: its mass m, the moment m c_z, and an equal moment about x and y.
 * It is moved there, body after body from the tips. The parts that reach the world are dropped. This is the grouping of
 * inertial parameters of Gautier and Khalil 1990, "Direct calculation of minimum set of inertial parameters of serial
 * robots". Joint forces, the mass matrix and their derivatives are the same in exact arithmetic; the wrenches that
 * joints transmit are not.
 */
#ifndef DYNAMICS_COMPILE_REDUCE_H
#define DYNAMICS_COMPILE_REDUCE_H

#include <vector>

#include "model/normal_form.h"

/* Makes rotations exact whose entries are 0 and +-1 to rounding. */
void snap_rotations(std::vector<body> &bodies);

/* Moves the frames of bodies with revolute joints as described above. */
void reduce_frames(std::vector<body> &bodies);

/* Moment that is moved to the parent with m and m c_z: I_yy, or the second moment J_zz = (I_xx + I_yy - I_zz) / 2. */
enum class left_out { I_yy, J_zz };

/* Moves inertias towards the root as described above. */
void reduce_inertias(std::vector<body> &bodies, left_out moment);

/* Splits each tree transform off as a body of its own. It comes last, since it renumbers the bodies, and only for
 * kernels that do not need the first body to be the root of the tree. */
void split_transforms(std::vector<body> &bodies);

/* Computes the other members of the bodies, after all other changes. Bodies that only rotate about the z axis of their
 * parent, as they do after split_transforms, become hinges. */
void restate_for_kernels(std::vector<body> &bodies);

#endif
