/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Inverse dynamics: tau = M(q) a + h(q, v) - sum J' f_ext.
 *
 * Common to all functions here
 *   n           number of samples; results of a sample do not depend on n, on its place or on the thread.
 *   gravity     acceleration of gravity in the world, m/s^2; NULL: the model's own.
 *   aliasing    tau may be the same array as v or a, and must not overlap an input otherwise.
 *   threads     safe as long as each thread has its own workspace.
 *   allocation  none.
 *   errors      DYN_INVALID_ARGUMENT: NaN or infinity, with place "q[13]" and the joint's name; a quaternion whose norm
 *               is further than 1e-3 from one; a workspace of another model. tau is then undefined.
 */
#ifndef DYNAMICS_INVERSE_DYNAMICS_H
#define DYNAMICS_INVERSE_DYNAMICS_H

#include <stddef.h>

#include <dynamics/export.h>
#include <dynamics/external_force.h>
#include <dynamics/workspace.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Computes tau for the motion (q, v, a) by the recursive Newton-Euler algorithm.
 *
 * q is n x nq; v, a (NULL: zero) and tau are n x nv. `forces` may be NULL. Cost O(bodies) per sample.
 * Source: Luh, Walker and Paul 1980, in the form of Balafoutis and Patel 1991. */
DYN_API dyn_status dyn_rnea(const dyn_model *model, dyn_workspace *workspace, size_t n, const double *gravity,
                            const double *q, const double *v, const double *a, const dyn_external_forces *forces,
                            double *tau, dyn_error *error);

/* Computes the gravity forces g(q), the tau that hold the robot at rest. q is n x nq, g is n x nv. Cost O(bodies) per
 * sample. */
DYN_API dyn_status dyn_gravity(const dyn_model *model, dyn_workspace *workspace, size_t n, const double *gravity,
                               const double *q, double *g, dyn_error *error);

/* Computes the bias forces h(q, v) = C(q, v) v + g(q), which is tau at a = 0. q is n x nq; v (NULL: zero) and h are n x
 * nv. Cost O(bodies) per sample. */
DYN_API dyn_status dyn_bias(const dyn_model *model, dyn_workspace *workspace, size_t n, const double *gravity,
                            const double *q, const double *v, double *h, dyn_error *error);

#ifdef __cplusplus
}
#endif

#endif
