/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tasks: rows of the Jacobians of one or several frames, one below the other.
 */
#ifndef DYNAMICS_TASK_H
#define DYNAMICS_TASK_H

#include <stddef.h>

#include <dynamics/export.h>
#include <dynamics/model.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Most frames and rows of a task. */
enum { DYN_TASK_FRAMES = 8, DYN_TASK_ROWS = 48 };

/* Rows of a frame's Jacobian: bit i stands for row i, angular rows first. */
enum { DYN_TASK_ANGULAR = 0x07, DYN_TASK_LINEAR = 0x38, DYN_TASK_ALL = 0x3f };

/* Rows of one frame in a task. */
typedef struct dyn_task_frame {
    int frame;                           /* as in kinematics.h; one that is fixed to the world has rows of zeros */
    dyn_reference_frame reference_frame; /* frame that the Jacobian is expressed in */
    unsigned rows;                       /* selected rows, in their order: at least one of the six bits */
} dyn_task_frame;

/* Task: the rows of its frames follow each other. */
typedef struct dyn_task {
    size_t count;
    const dyn_task_frame *frames;
} dyn_task;

/* Returns the number m of rows of a task. Thread-safe. */
DYN_API int dyn_task_row_count(const dyn_task *task);

#ifdef __cplusplus
}
#endif

#endif
