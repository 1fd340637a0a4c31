/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Results for people: values beside joint names and units.
 */
#ifndef CLI_RESULT_TABLES_H
#define CLI_RESULT_TABLES_H

#include "evaluation.h"
#include "table.h"

/* Writes "Inverse dynamics of ur5, home configuration" and an empty line. */
void print_title(const evaluation_context *context);

/* A line for each coordinate of each joint: the arrays that the command takes, and the result, a row of nv values of
 * the kind `result_kind`. False when out of memory, as below. */
bool print_joint_table(const evaluation_context *context, const state_batch *batch, const char *result_name,
                       state_array result_kind, const double *result);

/* A line for each state, a column for each velocity coordinate. */
bool print_state_table(const evaluation_context *context, size_t count, size_t number, state_array result_kind,
                       const double *results);

/* A matrix whose columns are the velocity coordinates. Row labels come from `rows`; NULL: the coordinates too. */
bool print_matrix(const layout *robot, size_t row_count, const char *const *rows, const double *matrix);

#endif
