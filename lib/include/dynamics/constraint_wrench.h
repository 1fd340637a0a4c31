/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Wrenches in the constraints of a model (constraint.h): the force and the couple that a closed loop transmits from its
 * predecessor P to its successor S,
 *
 *     w = sum over the rows r of W_r lambda_r  +  forces of a loop joint along the directions that it allows
 *
 * W_r is the wrench of a unit multiplier. For a joint of a tree, joint_wrench.h computes the same.
 *
 * Source: Featherstone 2008, "Rigid Body Dynamics Algorithms", sections 8.2 (T lambda) and 8.3 (active forces tau_a).
 */
#ifndef DYNAMICS_CONSTRAINT_WRENCH_H
#define DYNAMICS_CONSTRAINT_WRENCH_H

#include <stddef.h>

#include <dynamics/export.h>
#include <dynamics/passive_force.h>
#include <dynamics/workspace.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Computes the wrench that each of the c constraints of a model exerts on the link of its successor, n x c x 6: the
 * torque about the origin of P in N m, then the force in N, along the axes of P as its description states them. The
 * opposite wrench acts on the link of the predecessor. A constraint between coordinates (a coupling, a polynomial or a
 * prescribed motion) has no frames: its numbers are zero.
 *
 * lambda, n x m, are the multipliers of dyn_constrained_forward_dynamics or dyn_constrained_inverse_dynamics at q, and
 * passive (NULL: none) is the damping and friction of loop joints that counted there; their efforts always do. v (NULL:
 * zero) is read for these alone. Multipliers of least norm make wrenches of least norm where rows depend on each other.
 *
 * Cost O(depth) for each constraint, and O(m depth nv) for a model whose loop joints exert forces. Allocates nothing.
 * Thread-safe as long as each thread has its own workspace.
 * Errors: those of dyn_aba for q and v; DYN_INVALID_ARGUMENT with the place "lambda" for a number that is not finite;
 * DYN_FAILED_PRECONDITION for a model without constraints or a workspace in single precision. */
DYN_API dyn_status dyn_constraint_wrenches(const dyn_model *model, dyn_workspace *workspace, size_t n, const double *q,
                                           const double *v, const double *lambda, const dyn_passive_parts *passive,
                                           double *wrenches, dyn_error *error);

#ifdef __cplusplus
}
#endif

#endif
