/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The configuration space: a product of lines, rotations and rigid displacements.
 *
 * A tangent vector v has the order and axes of the velocities of dynamics/model.h. For joints whose q is not a vector
 *     planar      (x, y, angle) is a displacement of the plane, v = (vx, vy, w) in the moved frame's axes
 *     spherical   the quaternion is a rotation R, v = w in the child link's axes
 *     floating    (position, quaternion) is a rigid displacement, v = (v; w) in the child link's axes
 * and q (+) v is the end of the motion with constant v for one unit of time: R exp(w~), r + R V(w) v. For all other
 * joints it is the sum.
 *
 * Common to all functions here: n samples, rows of nq and nv, cost O(joints) each. They allocate nothing and are
 * thread-safe. Outputs may be the same arrays as inputs of the same width.
 * Errors: DYN_INVALID_ARGUMENT for NaN, infinity, or a quaternion whose norm is further than 1e-3 from one, as in
 * inverse_dynamics.h.
 * Source: Murray, Li and Sastry 1994, section 2.3; Sola, Deray and Atchuthan 2018.
 */
#ifndef DYNAMICS_CONFIGURATION_SPACE_H
#define DYNAMICS_CONFIGURATION_SPACE_H

#include <stddef.h>
#include <stdint.h>

#include <dynamics/export.h>
#include <dynamics/model.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Computes q_next = q (+) step_length v, which is exact for constant v. The quaternions of q_next have norm one.
 * step_length is in s and finite. */
DYN_API dyn_status dyn_integrate(const dyn_model *model, size_t n, const double *q, const double *v, double step_length,
                                 double *q_next, dyn_error *error);

/* Computes v = q_1 (-) q_0, the shortest v with q_0 (+) v = q_1; rotations are by at most pi. Angles of single joints
 * are subtracted as numbers, not modulo 2 pi. */
DYN_API dyn_status dyn_difference(const dyn_model *model, size_t n, const double *q_0, const double *q_1, double *v,
                                  dyn_error *error);

/* Computes q = q_0 (+) s (q_1 (-) q_0): q_0 at s = 0, q_1 at s = 1. */
DYN_API dyn_status dyn_interpolate(const dyn_model *model, size_t n, const double *q_0, const double *q_1, double s,
                                   double *q, dyn_error *error);

/* Computes the Euclidean norm of q_1 (-) q_0, n numbers. It mixes radians and metres. */
DYN_API dyn_status dyn_distance(const dyn_model *model, size_t n, const double *q_0, const double *q_1,
                                double *distance, dyn_error *error);

/* Scales the quaternions of configurations to norm one with w >= 0. The quaternions of q may have any norm but zero,
 * which is DYN_INVALID_ARGUMENT. */
DYN_API dyn_status dyn_normalize(const dyn_model *model, size_t n, const double *q, double *out, dyn_error *error);

/* Draws a random configuration: uniform within the limits, angles without limits in [-pi, pi], displacements in [-1,
 * 1], quaternions uniform over the rotations. `state` is the state of the generator: the caller chooses its first
 * value, and each call advances it. Equal states yield equal configurations. */
DYN_API void dyn_random_configuration(const dyn_model *model, uint64_t *state, double *q);

#ifdef __cplusplus
}
#endif

#endif
