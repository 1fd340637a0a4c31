/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef DYNAMICS_CLASSICAL_ARRAY_CHECK_H
#define DYNAMICS_CLASSICAL_ARRAY_CHECK_H

#include <stdbool.h>
#include <stddef.h>

#include <dynamics/status.h>

/* Checks that an array called `name` is not NULL and that its numbers are finite. */
dyn_status dyn_check_array(const char *name, const double *x, size_t count, dyn_error *error);

/* Returns whether all numbers are finite. */
bool dyn_are_finite(const double *x, size_t count);

#endif
