/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Derivatives of the forward dynamics of models with constraints (constrained_dynamics.h).
 */
#ifndef DYNAMICS_CONSTRAINED_DERIVATIVES_H
#define DYNAMICS_CONSTRAINED_DERIVATIVES_H

#include <stddef.h>

#include <dynamics/constrained_dynamics.h>
#include <dynamics/export.h>
#include <dynamics/external_force.h>
#include <dynamics/workspace.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Derivatives of the accelerations a(q, v, tau), n x nv x nv each, and of the multipliers lambda(q, v, tau), n x m x nv
 * each. Any pointer may be NULL. */
typedef struct dyn_constrained_derivatives {
    double *da_dq, *da_dv, *da_dtau;
    double *dlambda_dq, *dlambda_dv, *dlambda_dtau;
} dyn_constrained_derivatives;

/* Computes the derivatives of dyn_constrained_forward_dynamics with respect to its three arguments, with the increments
 * and the external forces of derivatives.h. The rows may depend on each other: the accelerations are unique, and the
 * multipliers are those of least norm. The method of `options` has no influence. Forces of joints of closed loops and
 * their derivatives count as in forward dynamics.
 *
 * q is n x nq; v, tau (NULL: zero) are n x nv. The derivatives of the equation of motion are analytic. Those of the
 * rows with respect to q are differences of order six, whose relative error is near 1e-12; rounding adds to it within
 * 15 mrad of a knot of a custom joint. Cost O(nv (m depth + m nv) + m nv^2 + m^4) per sample. Allocates memory for
 * O(nv^2 + m nv + m^2) numbers. Thread-safe as long as each thread has its own workspace.
 * Errors as dyn_constrained_forward_dynamics; DYN_FAILED_PRECONDITION for a model without constraints, and where the
 * accelerations have no derivative: the rows contradict each other, or their rank changes at q; DYN_INVALID_ARGUMENT
 * for options with given rows, whose derivatives are not known. */
DYN_API dyn_status dyn_constrained_forward_dynamics_derivatives(
    const dyn_model *model, dyn_workspace *workspace, size_t n, const double *gravity, const double *q, const double *v,
    const double *tau, const dyn_external_forces *forces, const dyn_constraint_options *options,
    const dyn_constrained_derivatives *derivatives, dyn_error *error);

/* Increments of the arguments, n x nv each; NULL: zero. */
typedef struct dyn_constrained_direction {
    const double *dq, *dv, *dtau;
} dyn_constrained_direction;

/* Computes the change of the accelerations along a direction, da/dq dq + da/dv dv + da/dtau dtau, n x nv, with the
 * derivatives above. `options` are those of the derivatives. Costs, memory, threads and errors as above. `da` must not
 * overlap an input. */
DYN_API dyn_status dyn_constrained_forward_dynamics_along(const dyn_model *model, dyn_workspace *workspace, size_t n,
                                                          const double *gravity, const double *q, const double *v,
                                                          const double *tau, const dyn_external_forces *forces,
                                                          const dyn_constraint_options *options,
                                                          const dyn_constrained_direction *direction, double *da,
                                                          dyn_error *error);

#ifdef __cplusplus
}
#endif

#endif
