/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Impact: the velocities of a model change so suddenly that its configuration stays. Its constraints (constraint.h)
 * strike, such as of a foot that lands or of a hand that grasps:
 *
 *     M (v+ - v-) = A' Lambda        A v+ - b = -e (A v- - b)
 *
 * with the coefficient of restitution e of Newton: 0 closes the constraints, 1 keeps the energy. b is the rate of
 * prescribed motions. Constraints that are closed before, A v- = b, stay so. Where b is zero, the kinetic energy
 * changes by -(1 - e^2) / 2 (A v-)' (A M^-1 A')^+ (A v-), which never is positive.
 *
 * Source: Featherstone 2008, "Rigid Body Dynamics Algorithms", section 11.7 (impulsive dynamics); Brogliato 2016,
 * "Nonsmooth Mechanics", chapter 4 (restitution of several constraints).
 */
#ifndef DYNAMICS_IMPACT_H
#define DYNAMICS_IMPACT_H

#include <stddef.h>

#include <dynamics/constrained_dynamics.h>
#include <dynamics/export.h>
#include <dynamics/status.h>
#include <dynamics/workspace.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Computes the velocities after an impact, n x nv, and the impulses Lambda of the m rows of the constraints, n x m, in
 * N s or N m s. q is n x nq; v (NULL: zero), the velocities before, is n x nv and may be v_after itself. `given` (NULL:
 * none) are rows beside those of the model, with b = 0; their impulses follow. Rows may depend on each other; the
 * impulses are those of least norm. Either output may be NULL.
 *
 * Cost O(m^2 depth + m bodies + m^3) per sample. Allocates nothing, except with given rows. Thread-safe as long as each
 * thread has its own workspace. Errors: those of dyn_aba for q and v; DYN_INVALID_ARGUMENT with the place "restitution"
 * unless it is from 0 to 1; DYN_FAILED_PRECONDITION for a model without constraints, unless rows are given, a singular
 * mass matrix, a workspace in single precision, or given rows beside a prescribed motion. */
DYN_API dyn_status dyn_impact(const dyn_model *model, dyn_workspace *workspace, size_t n, const double *q,
                              const double *v, const dyn_given_rows *given, double restitution, double *v_after,
                              double *impulses, dyn_error *error);

#ifdef __cplusplus
}
#endif

#endif
