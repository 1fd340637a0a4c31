/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Check of compiled algorithms against the library's own.
 */
#ifndef DYNAMICS_DYNAMICS_COMPILED_CHECK_H
#define DYNAMICS_DYNAMICS_COMPILED_CHECK_H

#include "compiled.h"

/* Compares every function of a loaded object with the kernels at random states, and removes those that the library
 * refuses for this model. Returns DYN_FAILED_PRECONDITION with the function's name if results differ. */
dyn_status dyn_compiled_check(dyn_compiled *c, dyn_error *error);

#endif
