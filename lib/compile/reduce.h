/*
 * The same robot with fewer numbers: frames and inertias that give the same joint forces.
 *
 * Frames: the x axis of a revolute joint's body turns to the common normal of its axis and the next one, and the origin
 * moves to its foot, as in the modified Denavit-Hartenberg convention (Craig 1986). The tree transform of the next joint
 * is then a turn about x; what is left of a turn about z goes into the offset of the joint's variable.
 *
 * Inertias: what of a body's inertia a turn about its joint's axis does not change, and what gives no moment about that
 * axis, is as well fixed to the parent: its mass m, the moment m c_z, and I_yy from I_xx and I_yy. It moves there, body
 * after body from the tips; what reaches the world is gone. This is the grouping of inertial parameters of Gautier and
 * Khalil 1990, "Direct calculation of minimum set of inertial parameters of serial robots". Joint forces, the mass matrix
 * and all that follows from them are the same in exact arithmetic; the wrenches that joints carry are not.
 */
#ifndef DYNAMICS_COMPILE_REDUCE_H
#define DYNAMICS_COMPILE_REDUCE_H

#include <vector>

#include "model/normal_form.h"

/* Rotations whose entries are 0 and +-1 to rounding, made exact. */
void snap_rotations(std::vector<body> &bodies);

void reduce_frames(std::vector<body> &bodies);

void reduce_inertias(std::vector<body> &bodies);

#endif
