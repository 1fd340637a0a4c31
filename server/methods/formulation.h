/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Computes quantities by the formulation of the literature that a query names.
 */
#ifndef SERVER_METHODS_FORMULATION_H
#define SERVER_METHODS_FORMULATION_H

#include "methods/evaluation.h"

/* Returns the parts of a query that quantities use which depend on `inputs`, flags of quantity_input, where a
 * formulation computes them. */
query_parts formulation_parts(unsigned inputs);

/* Computes a quantity of an open batch by the formulation of its query. Returns its values, n rows in the caller's
 * order, or NULL when the call has ended or is deferred. */
double *formulation_compute(batch *b, Dynamics__V1__Quantity quantity, const sent_array arrays[STATE_ARRAYS]);

#endif
