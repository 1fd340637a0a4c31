/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks against the range of single precision.
 */
#ifndef DYNAMICS_DYNAMICS_PRECISION_H
#define DYNAMICS_DYNAMICS_PRECISION_H

#include <dynamics/workspace.h>

/* Returns the largest double that is finite when rounded to the precision. */
double dyn_largest_number(dyn_precision precision);

/* Returns the name of the precision in messages: "single" or "double". */
const char *dyn_precision_name(dyn_precision precision);

/* Checks that every constant of the model is in the range of the precision: none overflows, and no mass or moment of
 * inertia becomes zero.
 * Errors: DYN_FAILED_PRECONDITION, which names the joint and the value. */
dyn_status dyn_check_constants(dyn_precision precision, const dyn_model *model, dyn_error *error);

#endif
