/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Quantities by a formulation of the literature, which the query names.
 */
#ifndef SERVER_METHODS_FORMULATION_H
#define SERVER_METHODS_FORMULATION_H

#include "methods/evaluation.h"

/* Returns whether formulations compute this quantity. */
bool formulation_computes(Dynamics__V1__Quantity quantity);

/* Returns the parts of a query that such a quantity supports with a formulation. */
query_parts formulation_parts(Dynamics__V1__Quantity quantity);

/* Computes such a quantity of an open batch, by the formulation of its query. Returns its values, n rows, or NULL when
 * the call has ended or is deferred. */
double *formulation_compute(batch *b, Dynamics__V1__Quantity quantity, const sent_array arrays[STATE_ARRAYS]);

#endif
