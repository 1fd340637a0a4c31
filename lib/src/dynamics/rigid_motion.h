/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Exponential and logarithm of rotations and rigid displacements, in double precision.
 *
 * With t = |w|:
 *     exp(w~) = 1 + A w~ + B w~ w~       V(w) = 1 + B w~ + C w~ w~       V(w)^-1 = 1 - w~ / 2 + D w~ w~
 *     A = sin t / t     B = (1 - cos t) / t^2     C = (t - sin t) / t^3     D = (1 - (t / 2) cot(t / 2)) / t^2
 * Source: Murray, Li and Sastry 1994, equations 2.14, 2.36 and A.14.
 */
#ifndef DYNAMICS_DYNAMICS_RIGID_MOTION_H
#define DYNAMICS_DYNAMICS_RIGID_MOTION_H

/* Computes the quaternion x, y, z, w of exp(w~). */
void dyn_quaternion_exp(const double w[3], double q[4]);

/* Computes the rotation vector w, |w| <= pi, of a unit quaternion. */
void dyn_quaternion_log(const double q[4], double w[3]);

/* Computes the product a b of two quaternions; out may be a or b. */
void dyn_quaternion_multiply(const double a[4], const double b[4], double out[4]);

/* Computes R x for the rotation R of a unit quaternion; out may be x. */
void dyn_quaternion_rotate(const double q[4], const double x[3], double out[3]);

/* Computes R' x for the rotation R of a unit quaternion; out may be x. */
void dyn_quaternion_rotate_back(const double q[4], const double x[3], double out[3]);

/* Computes V(w) x; out may be x. */
void dyn_left_jacobian_apply(const double w[3], const double x[3], double out[3]);

/* Computes V(w)^-1 x for |w| < 2 pi; out may be x. */
void dyn_left_jacobian_solve(const double w[3], const double x[3], double out[3]);

#endif
