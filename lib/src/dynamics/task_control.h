/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rows of tasks, and joint forces of tasks for robots whose accelerations respond to forces in another way than those
 * of a tree.
 */
#ifndef DYNAMICS_DYNAMICS_TASK_CONTROL_H
#define DYNAMICS_DYNAMICS_TASK_CONTROL_H

#include <dynamics/task_control.h>

#include "arguments.h"

/* Response of a robot to joint forces: a = B (tau - h + J' f_ext) + a_0. */
typedef struct task_response {
    /* Computes B, nv x nv, and a_0, nv, of a sample. */
    dyn_status (*load)(void *context, size_t sample, double *B, double *a_0, dyn_error *error);
    void *context;
} task_response;

/* Computes the rows of a task, m x nv, and dJ/dt v, m, of one sample. The task must be right. Allocates. */
dyn_status task_load_rows(const dyn_model *model, dyn_workspace *workspace, const dyn_task *task, const double *q,
                          const double *v, double *J, double *drift, dyn_error *error);

/* Computes dyn_task_torques_for with a response; NULL: that of the tree. The third input is tau_0. */
dyn_status task_torques_under(const dyn_model *model, dyn_workspace *workspace, size_t n, const dynamics_inputs *in,
                              const dyn_task_goal *goal, const task_response *response, const dyn_task_torques *results,
                              dyn_error *error);

#endif
