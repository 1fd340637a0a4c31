/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Dynamics in the coordinates of a task: the motion of one or several frames at once.
 *
 * A task stacks rows of the Jacobians of its frames to J, m x nv, so that its velocity is x_dot = J v. With tau = M a +
 * C v + g = J' F + N' tau_0,
 *
 *     Lambda (J a + dJ/dt v) + mu + p = F
 *
 *     Lambda = (J M^-1 J')^-1             operational-space inertia
 *     mu     = Jbar' C v - Lambda dJ/dt v forces of Coriolis and centrifugal motion on the task
 *     p      = Jbar' g                    forces of gravity on the task
 *     Jbar   = M^-1 J' Lambda             dynamically consistent inverse: J Jbar = 1
 *     N      = 1 - Jbar J                 null-space projector: N' tau_0 does not accelerate the task
 *
 * J M^-1 J' exists everywhere. Lambda and the quantities that contain it exist only where the rows of J are
 * independent. They are dependent in a singular configuration, and in a task with more rows than nv.
 *
 * Sources: Khatib 1987, "A unified approach for motion and force control of robot manipulators: the operational space
 * formulation". J M^-1 J' by the factors of the articulated-body algorithm, with forces that propagate inward from each
 * frame: Rodriguez, Jain and Kreutz-Delgado 1992, "Spatial operator algebra for multibody system dynamics"; Wensing,
 * Featherstone and Orin 2012, "A reduced-order recursive algorithm for the computation of the operational-space inertia
 * matrix", which defines these force propagators.
 */
#ifndef DYNAMICS_OPERATIONAL_SPACE_H
#define DYNAMICS_OPERATIONAL_SPACE_H

#include <stddef.h>

#include <dynamics/export.h>
#include <dynamics/task.h>
#include <dynamics/workspace.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Computes the dynamics of a task. q is n x nq, v (NULL: zero) is n x nv; `gravity` as in inverse_dynamics.h. Any
 * output may be NULL:
 *
 *     inverse_inertia   J M^-1 J'   n x m x m
 *     inertia           Lambda      n x m x m
 *     bias              mu          n x m
 *     gravity_force     p           n x m
 *     inverse           Jbar        n x nv x m
 *     projector         N           n x nv x nv
 *
 * Units are SI: of F, N m for angular and N for linear rows. Cost O(bodies + m depth + m^2 common depth) per sample for
 * J M^-1 J', where common depth is the part that the paths of two frames to the root share; O(m bodies + m^2 nv + m^3)
 * for the others, and m nv^2 for N; O(nv^3) with coupled mimic joints. Allocates nothing. Thread-safe as long as each
 * thread has its own workspace.
 *
 * Errors as in kinematics.h; DYN_INVALID_ARGUMENT for a task with no or too many frames, or with a frame without rows;
 * DYN_FAILED_PRECONDITION with the place "task", the sample and the row where the task is singular and an output other
 * than inverse_inertia is requested: a row has less than 1e-12 (in single precision 5e-4) of its own entry of J M^-1 J'
 * left when the rows after it are held. DYN_FAILED_PRECONDITION also where M is singular, as in dyn_aba. */
DYN_API dyn_status dyn_operational_space(const dyn_model *model, dyn_workspace *workspace, size_t n,
                                         const double *gravity, const double *q, const double *v, const dyn_task *task,
                                         double *inverse_inertia, double *inertia, double *bias, double *gravity_force,
                                         double *inverse, double *projector, dyn_error *error);

#ifdef __cplusplus
}
#endif

#endif
