/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tasks of operational_space.h: selected rows of the Jacobians of one or several frames, one below the other.
 */
#ifndef DYNAMICS_TASK_H
#define DYNAMICS_TASK_H

#include <stddef.h>

#include <dynamics/export.h>
#include <dynamics/model.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Limits of a task: the largest number of frames, and the largest number of rows of all frames together. */
enum { DYN_TASK_FRAMES = 8, DYN_TASK_ROWS = 48 };

/* Bits of the rows of a frame's Jacobian: bits 0 to 2 stand for the angular rows x, y, z, bits 3 to 5 for the linear
 * ones. */
enum { DYN_TASK_ANGULAR = 0x07, DYN_TASK_LINEAR = 0x38, DYN_TASK_ALL = 0x3f };

/* Rows of one frame in a task. */
typedef struct dyn_task_frame {
    /* Index of a link, or DYN_WORLD_FRAME (-1); other negative indices are errors. The Jacobian of the world and of a
     * link that is fixed to it is zero. */
    int frame;
    dyn_reference_frame reference_frame; /* frame that the Jacobian is expressed in */
    /* Selected rows of the Jacobian, bits 0 to 5: at least one. The task holds them in ascending order of the bits. */
    unsigned rows;
} dyn_task_frame;

/* Task: the rows of frames[0], then those of frames[1], and so on. */
typedef struct dyn_task {
    size_t count; /* number of frames, 1 to DYN_TASK_FRAMES */
    const dyn_task_frame *frames;
} dyn_task;

/* Returns the number of rows that all frames of a task select together. Thread-safe. */
DYN_API int dyn_task_row_count(const dyn_task *task);

#ifdef __cplusplus
}
#endif

#endif
