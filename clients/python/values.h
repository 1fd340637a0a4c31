/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Evaluations of Python programs: the request and one of its values, with few calls and no object of Python for each
 * result.
 */
#ifndef PYTHON_VALUES_H
#define PYTHON_VALUES_H

#include <dynamics_client.h>

/* Shape of one sample of an array. */
typedef struct dynamicsd_shape {
    size_t rank;
    size_t sizes[3];
} dynamicsd_shape;

/* Returns the only block of the only result of a quantity, where that block is called "value"; NULL otherwise. */
const dyn_client_block *dynamicsd_find_value(const dyn_client_evaluation *evaluation, dyn_client_quantity quantity);

/* Returns the numbers of the block that dynamicsd_find_value returns, where it has the shape and any numbers; NULL
 * otherwise. */
const double *dynamicsd_find_numbers(const dyn_client_evaluation *evaluation, dyn_client_quantity quantity,
                                     const dynamicsd_shape *shape);

/* Calls dyn_client_evaluate with `request` and the arrays q, v and a, where v and a may be NULL. */
dyn_client_status dynamicsd_evaluate(dyn_client *client, const dyn_client_query *query,
                                     dyn_client_evaluate_request *request, const double *q, const double *v,
                                     const double *a, dyn_client_evaluation **evaluation, dyn_client_error *error);

#endif
