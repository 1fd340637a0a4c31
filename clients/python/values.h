/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Evaluations of Python programs: the request and one of its values, with few calls and no object of Python for each
 * result.
 */
#ifndef PYTHON_VALUES_H
#define PYTHON_VALUES_H

#include <dynamics_client.h>

/* Returns the only block of the only result of a quantity, where that block is called "value"; NULL otherwise. */
const dyn_client_block *dynamicsd_find_value(const dyn_client_evaluation *evaluation, dyn_client_quantity quantity);

/* Calls dyn_client_evaluate with the quantities of `request` and the first row_count arrays of q, v, a, tau, dq, dv, da
 * and dtau, NULL for those that are not given. */
dyn_client_status dynamicsd_evaluate(dyn_client *client, const dyn_client_query *query,
                                     dyn_client_evaluate_request *request, const double *const *rows, size_t row_count,
                                     dyn_client_evaluation **evaluation, dyn_client_error *error);

#endif
