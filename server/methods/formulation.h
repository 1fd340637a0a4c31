/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Computes quantities by the formulation of the literature that a query names.
 */
#ifndef SERVER_METHODS_FORMULATION_H
#define SERVER_METHODS_FORMULATION_H

#include "methods/evaluation.h"

/* Returns whether formulations compute this quantity: inverse dynamics, forward dynamics or the mass matrix. */
bool formulation_computes(Dynamics__V1__Quantity quantity);

/* Returns the parts of a query that a quantity supports when a formulation computes it. */
query_parts formulation_parts(Dynamics__V1__Quantity quantity);

/* Computes a quantity of an open batch by the formulation of its query. Returns its values, n rows in the caller's
 * order, or NULL when the call has ended or is deferred. */
double *formulation_compute(batch *b, Dynamics__V1__Quantity quantity, const sent_array arrays[STATE_ARRAYS]);

#endif
