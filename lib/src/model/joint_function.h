/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Functions of custom joints as pieces of polynomials.
 */
#ifndef DYNAMICS_MODEL_JOINT_FUNCTION_H
#define DYNAMICS_MODEL_JOINT_FUNCTION_H

#include <stdbool.h>

#include <dynamics/status.h>

#include "normal_form.h"

/* Most pieces of a function: one between each two knots of a spline, and one beyond each end. */
enum { MAX_FUNCTION_PIECES = DYN_MAX_KNOTS + 1 };

/* Returns the number of pieces of a function that has been checked. */
int function_piece_count(const dyn_joint_function *function);

/* Computes the pieces, function_piece_count of them, of a function whose count is in range. */
void function_pieces(const dyn_joint_function *function, function_piece *pieces);

/* Computes f and its first three derivatives at x. */
void function_pieces_at(const function_piece *pieces, int count, double x, double derivatives[4]);

/* Returns whether the function has the same value everywhere. */
bool function_is_constant(const dyn_joint_function *function);

#endif
