/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rows of a task, for operational-space quantities. The caller's rows are in the order of the task's frames, with the
 * linear rows of each frame first. The library's rows are in the order of the frames too, but with the angular rows of
 * each first.
 */
#ifndef SERVER_METHODS_TASK_ROWS_H
#define SERVER_METHODS_TASK_ROWS_H

#include "methods/batch.h"

/* Task of a quantity, and the order of its rows. */
typedef struct task_rows {
    size_t request; /* index of the request's quantity that states the task */
    Dynamics__V1__TaskFrame *const *named;
    dyn_task_frame frames[DYN_TASK_FRAMES];
    dyn_task task;            /* frames of the task */
    size_t count;             /* number of rows */
    int order[DYN_TASK_ROWS]; /* the library's index of each of the caller's rows */
    unsigned priorities[DYN_TASK_FRAMES];
    dyn_task_goal goal; /* desired accelerations, in the library's order of rows, and priorities */
} task_rows;

/* Reads the task of quantity `request` of a request. `rows` must not move afterwards. Returns false, and the call has
 * ended, on an error. */
bool task_rows_read(batch *b, size_t request, const Dynamics__V1__QuantityRequest *from,
                    dyn_reference_frame reference_frame, task_rows *rows);

/* Reads the desired accelerations, the priorities and the damping into rows->goal. Returns false, and the call has
 * ended, on an error. */
bool task_rows_read_goal(batch *b, const Dynamics__V1__QuantityRequest *from, task_rows *rows);

/* Refuses accelerations, priorities and damping. Returns whether there are none. */
bool task_rows_check_no_goal(batch *b, const Dynamics__V1__QuantityRequest *from, const task_rows *rows);

/* Returns the name of one of the caller's rows, such as "tool0 linear x", or NULL when out of memory. */
char *task_rows_name(batch *b, const task_rows *rows, size_t row);

/* Returns whether one of the caller's rows is linear. */
bool task_rows_is_linear(const task_rows *rows, size_t row);

/* Returns whether two tasks select equal rows of equal frames, in the same order and reference frame, and have no goals
 * or are the same. */
bool task_rows_are_equal(const task_rows *a, const task_rows *b);

#endif
