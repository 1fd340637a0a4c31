/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rows of a task: what the operational-space quantities of a request are about.
 */
#ifndef SERVER_METHODS_TASK_ROWS_H
#define SERVER_METHODS_TASK_ROWS_H

#include "methods/batch.h"

typedef struct task_rows {
    dyn_task_frame frames[DYN_TASK_FRAMES];
    dyn_task task; /* of these frames */
} task_rows;

/* Selects the rows of `count` frames by axes, all six where there are none. The rows must stay where they are. False,
 * and the call ended, when an axis is wrong or there are too many frames. */
bool task_rows_take(batch *b, size_t count, const int *frames, dyn_reference_frame reference_frame, size_t axis_count,
                    const Dynamics__V1__TaskAxis *axes, task_rows *rows);

/* Names of the rows, such as "tool0 linear x"; NULL when out of memory. `frames` are the names of the frames. */
char **task_rows_name(batch *b, const task_rows *rows, char *const *frames);

/* Returns whether both select the same rows in the same order. */
bool task_rows_are_equal(const task_rows *a, const task_rows *b);

#endif
