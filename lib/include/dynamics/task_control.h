/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Joint forces for desired accelerations of tasks, in an order of priority, and for an objective in their null space.
 *
 * A task k of priority k has rows J_k of Jacobians (task.h) and desired accelerations x_ddot_k = J_k a + dJ_k/dt v. In
 * the order of priority, with N_1 = 1 and the sum tau of the forces of the tasks before,
 *
 *     J_k|p = J_k N_k        R_k = J_k|p M^-1 J_k|p'        F_k = R_k^+ (x_ddot_k - dJ_k/dt v - J_k M^-1 tau)
 *     tau <- tau + J_k|p' F_k        N_k+1 = N_k - M^-1 J_k|p' R_k^+ J_k|p
 *
 * and at the end tau <- tau + N' tau_0 + h - sum J' f_ext. A task does not disturb those of higher priority; what it
 * reaches is the least deviation that they leave. With one task of independent rows tau is that of the operational
 * space: J' (Lambda x_ddot + mu + p) + N' (tau_0 + h), without external forces.
 *
 * Where R_k is singular, R_k^+ is the pseudoinverse: of the eigenvalues s_i of R_k those below 1e-10 of the trace of
 * J_k M^-1 J_k' count as zero. With a damping d > 0 the forces F_k use s_i / (s_i^2 + d^2 t^2) in place of 1 / s_i,
 * where t is that trace, so that forces stay bounded near a singular configuration; the null space is not damped.
 *
 * Sources: Khatib 1987 (operational space); Sentis and Khatib 2005, "Synthesis of whole-body behaviors through
 * hierarchical control of behavioral primitives" (priorities); Nakamura and Hanafusa 1986 (damped inverse).
 */
#ifndef DYNAMICS_TASK_CONTROL_H
#define DYNAMICS_TASK_CONTROL_H

#include <stddef.h>

#include <dynamics/export.h>
#include <dynamics/external_force.h>
#include <dynamics/task.h>
#include <dynamics/workspace.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Frames with priorities, and desired accelerations of their m rows. */
typedef struct dyn_task_goal {
    dyn_task task;
    const unsigned *priorities;  /* one for each frame; smaller ones first, equal ones are one task; NULL: one task */
    const double *accelerations; /* x_ddot in the reference frames, as of dyn_frame_motion; NULL: zeros */
    size_t stride;               /* numbers from one sample to the next, m or 0 */
    double damping;              /* d, 0 to 1 */
} dyn_task_goal;

/* Results for n samples. Any pointer may be NULL. */
typedef struct dyn_task_torques {
    double *tau;           /* n x nv */
    double *accelerations; /* J a + dJ/dt v that tau causes, n x m */
    double *independence;  /* eigenvalues of R_k of each task over the trace, largest first, at its rows: n x m */
} dyn_task_torques;

/* Computes the joint forces. q is n x nq; v and tau_0 (NULL: zero) are n x nv; gravity and forces as in
 * inverse_dynamics.h. Cost O(nv^2 m + m^3) per sample. Allocates memory for O(nv^2 + nv m + m^2) numbers. Thread-safe
 * as long as each thread has its own workspace.
 * Errors: those of dyn_rnea, dyn_minverse and dyn_frame_motion; DYN_INVALID_ARGUMENT for a task as in
 * operational_space.h, and with the place "damping"; DYN_RESOURCE_EXHAUSTED for nv above 1,000. */
DYN_API dyn_status dyn_task_torques_for(const dyn_model *model, dyn_workspace *workspace, size_t n,
                                        const double *gravity, const double *q, const double *v,
                                        const dyn_external_forces *forces, const dyn_task_goal *goal,
                                        const double *tau_0, const dyn_task_torques *results, dyn_error *error);

#ifdef __cplusplus
}
#endif

#endif
