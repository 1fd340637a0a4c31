/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tasks of robots with constraints (constraint.h): the quantities of operational_space.h and the forces of
 * task_control.h, where the constraints hold. With the acceleration that joint forces cause under constraints,
 *
 *     a = B tau + .., B = P_qdd M^-1        (constraint_space.h)
 *
 * B takes the place of M^-1:
 *
 *     Lambda = (J B J')^-1        Jbar = B J' Lambda        N = 1 - Jbar J        p = Jbar' g
 *
 * and mu are all forces that act on the task beside p: those of Coriolis and centrifugal motion, of dA/dt v, and of the
 * joints of closed loops. A row that the constraints hold, or that depends on others under them, makes a task singular.
 *
 * Sources: Khatib 1987 (operational space); De Sapio and Khatib 2005, "Operational space control of multibody systems
 * with explicit holonomic constraints"; Mistry and Righetti 2011, "Operational space control of constrained and
 * underactuated systems".
 */
#ifndef DYNAMICS_CONSTRAINED_TASK_H
#define DYNAMICS_CONSTRAINED_TASK_H

#include <stddef.h>

#include <dynamics/constrained_dynamics.h>
#include <dynamics/export.h>
#include <dynamics/external_force.h>
#include <dynamics/task.h>
#include <dynamics/task_control.h>
#include <dynamics/workspace.h>

#ifdef __cplusplus
extern "C" {
#endif

/* States of a robot with constraints. */
typedef struct dyn_constrained_states {
    size_t n;
    const double *gravity;       /* as in inverse_dynamics.h */
    const double *q, *v;         /* n x nq, n x nv; v NULL: zero */
    const dyn_given_rows *given; /* rows beside those of the model; NULL: none */
} dyn_constrained_states;

/* Quantities of a task as in operational_space.h. Any pointer may be NULL. */
typedef struct dyn_constrained_task {
    double *inverse_inertia; /* J B J', n x m x m */
    double *inertia;         /* Lambda, n x m x m */
    double *bias;            /* mu, n x m */
    double *gravity_force;   /* p, n x m */
    double *inverse;         /* Jbar, n x nv x m */
    double *projector;       /* N, n x nv x nv */
} dyn_constrained_task;

/* Computes the dynamics of a task under constraints. Cost O(nv^3) per sample. Allocates. Thread-safe as long as each
 * thread has its own workspace.
 * Errors: those of dyn_constraint_space_quantities and of dyn_constrained_forward_dynamics; for the task those of
 * operational_space.h. A row is independent where more than 1e-10 of its entry of J M^-1 J' is left. */
DYN_API dyn_status dyn_constrained_operational_space(const dyn_model *model, dyn_workspace *workspace,
                                                     const dyn_constrained_states *states, const dyn_task *task,
                                                     const dyn_constrained_task *quantities, dyn_error *error);

/* Computes the joint forces of task_control.h under constraints: those of the joints with a motor whose sum of squares
 * is least among all that cause the motion, as dyn_constrained_inverse_dynamics states. tau_0 (NULL: zero) is n x nv.
 * Cost O(nv^3) per sample. Allocates. Thread-safe as above.
 * Errors: those of dyn_task_torques_for and of dyn_constrained_inverse_dynamics, such as a passive joint that needs a
 * force. */
DYN_API dyn_status dyn_constrained_task_torques(const dyn_model *model, dyn_workspace *workspace,
                                                const dyn_constrained_states *states, const dyn_external_forces *forces,
                                                const dyn_task_goal *goal, const double *tau_0,
                                                const dyn_task_torques *results, dyn_error *error);

#ifdef __cplusplus
}
#endif

#endif
