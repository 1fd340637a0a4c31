/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Values of an evaluation, found without an object of Python for each of its results.
 */
#ifndef PYTHON_VALUES_H
#define PYTHON_VALUES_H

#include <dynamics_client.h>

/* Returns the only block of the only result of a quantity, where that block is called "value"; NULL otherwise. */
const dyn_client_block *dynamicsd_find_value(const dyn_client_evaluation *evaluation, dyn_client_quantity quantity);

#endif
