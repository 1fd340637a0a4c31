/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Prints tables of results: values with joint names and units.
 */
#ifndef CLI_RESULT_TABLES_H
#define CLI_RESULT_TABLES_H

#include "evaluation.h"
#include "table.h"

/* Writes a title such as "Inverse dynamics of ur5, home configuration" and an empty line. */
void print_title(const evaluation_context *context);

/* Prints a line for each coordinate of each joint with the input arrays of the command and the result, a row of nv
 * values of the kind `result_kind`. Returns false when out of memory. */
bool print_joint_table(const evaluation_context *context, const state_batch *batch, const char *result_name,
                       state_array result_kind, const double *result);

/* Prints a line for each coordinate of each joint with q, v and tau and their units. Returns false when out of
 * memory. */
bool print_motion_table(const layout *robot, const double *q, const double *v, const double *tau);

/* Prints the constraint of a motion that was open by the most, and by how much; nothing where the model has no
 * constraint, whose name is then empty. Returns false when out of memory. */
bool print_closure_error(const char *constraint, double closure_error);

/* Prints a line for each contact surface of a robot with its force, gap and slip, as a simulation stores them; nothing
 * where `surfaces` is 0. Returns false when out of memory. */
bool print_contact_table(const dyn_client_description *robot, size_t surfaces, const double *forces, const double *gaps,
                         const double *slips);

/* Prints a line for each of `count` states and a column for each velocity coordinate. `number` is the number of the
 * first state. Returns false when out of memory. */
bool print_state_table(const evaluation_context *context, size_t count, size_t number, state_array result_kind,
                       const double *results);

/* Prints a matrix whose columns are the velocity coordinates. `rows` holds row labels; NULL: the rows are the velocity
 * coordinates too. Returns false when out of memory. */
bool print_matrix(const layout *robot, size_t row_count, const char *const *rows, const double *matrix);

#endif
