/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Simulates a robot of this library in MuJoCo: rigid bodies, the reflected inertia of rotors, and spheres and boxes
 * that touch planes of the world, without damping of joints, and without their limits and friction unless
 * mujoco_motion_bound_joints adds them. The contacts are those of MuJoCo's
 * defaults (pyramidal cone, solver of Newton, solref 0.02 1, solimp 0.9 0.95 0.001 0.5 2); of a model with soft
 * surfaces they have elliptic cones and the parameters of these.
 */
#ifndef DYNAMICS_TESTS_MUJOCO_MOTION_H
#define DYNAMICS_TESTS_MUJOCO_MOTION_H

#include <stdbool.h>
#include <stddef.h>

#include <dynamics/model.h>

typedef struct mujoco_motion mujoco_motion;

/* Creates a simulation of the model, by Runge-Kutta 4 or semi-implicit Euler, with steps of dt. The model must outlive
 * it. Returns NULL where MuJoCo cannot represent the model, or memory is exhausted. */
mujoco_motion *mujoco_motion_create(const dyn_model *model, bool runge_kutta, double dt);
void mujoco_motion_free(mujoco_motion *motion);

/* Adds the limits and the dry friction of the joints as MuJoCo's constraints of limits and of friction loss. Their time
 * constant is this one (at least two steps), and their impedance the largest, so that they are nearly rigid. Limits are
 * damped far beyond the critical ratio, with which a joint would rebound by an eighth of its velocity. */
void mujoco_motion_bound_joints(mujoco_motion *motion, double time_constant);

/* Sets the state to q and v in this library's coordinates. All joints have one coordinate, except a floating base. */
void mujoco_motion_set(mujoco_motion *motion, const double *q, const double *v);

/* Sets the forces of the following steps, in this library's coordinates, for the state that was set last. */
void mujoco_motion_push(mujoco_motion *motion, const double *tau);

/* Computes the sum of the forces of the planes on what touches them, in the world, N. Returns the number of contact
 * points of the last step. */
int mujoco_motion_contact(const mujoco_motion *motion, double force[3]);

void mujoco_motion_step(mujoco_motion *motion, size_t steps);

/* Stores positions and velocities of the joints with one coordinate in this library's order. Numbers of other joints in
 * q and v do not change. */
void mujoco_motion_get(const mujoco_motion *motion, double *q, double *v);

/* Stores the position of a floating base. */
void mujoco_motion_base(const mujoco_motion *motion, double position[3]);

#endif
