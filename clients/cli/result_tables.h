/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tables of results: values with joint names and units.
 */
#ifndef CLI_RESULT_TABLES_H
#define CLI_RESULT_TABLES_H

#include "evaluation.h"
#include "table.h"

/* Writes a title such as "Inverse dynamics of ur5, home configuration" and an empty line. */
void print_title(const evaluation_context *context);

/* Writes a line for each coordinate of each joint: the input arrays of the command, and the result, a row of nv values
 * of the kind `result_kind`. Returns false when out of memory. */
bool print_joint_table(const evaluation_context *context, const state_batch *batch, const char *result_name,
                       state_array result_kind, const double *result);

/* Writes a line for each coordinate of each joint, with q, v and tau and their units. Returns false when out of memory.
 */
bool print_motion_table(const layout *robot, const double *q, const double *v, const double *tau);

/* Writes a line for each state, a column for each velocity coordinate. Returns false when out of memory. */
bool print_state_table(const evaluation_context *context, size_t count, size_t number, state_array result_kind,
                       const double *results);

/* Writes a matrix whose columns are the velocity coordinates. `rows` holds row labels; NULL: the coordinates too.
 * Returns false when out of memory. */
bool print_matrix(const layout *robot, size_t row_count, const char *const *rows, const double *matrix);

#endif
