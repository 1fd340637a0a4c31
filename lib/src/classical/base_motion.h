/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Forces that the motion of the base causes.
 */
#ifndef DYNAMICS_CLASSICAL_BASE_MOTION_H
#define DYNAMICS_CLASSICAL_BASE_MOTION_H

#include "mechanism.h"

/* Sets the base of a mechanism into motion: 6 numbers each, as in dyn_base_motion. */
void KERNEL(set_base_motion)(const double twist[6], const double acceleration[6], mechanism *m);

/* Computes the part of tau that the motion of the base causes at the velocities v, nv numbers, and unless `wrenches` is
 * NULL, adds what it causes to the wrenches of the joints, 6 numbers each, in the axes and about the origin of the
 * child link. Only reserves memory where the scratch measures. */
void KERNEL(base_forces)(const mechanism *m, const real *v, scratch *s, real *tau, real *wrenches);

/* Computes the derivatives of that part of tau along q and v, nv x nv each, row-major. Only reserves memory where the
 * scratch measures. */
void KERNEL(base_force_derivatives)(const mechanism *m, const real *v, scratch *s, real *dq, real *dv);

#endif
