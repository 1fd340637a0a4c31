/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Results of Evaluate: the blocks of a quantity in the reply.
 */
#ifndef SERVER_METHODS_QUANTITY_RESULT_H
#define SERVER_METHODS_QUANTITY_RESULT_H

#include "methods/batch.h"
#include "methods/quantities.h"

/* Values of one sample, as the library writes them: the blocks of a quantity share them among themselves. */
size_t quantity_width(const batch *b, const quantity_form *form);

/* A result with its form stated and memory for its values. `frame` is NULL for a quantity that is of none. Returns
 * NULL, and the call has ended, when out of memory. */
Dynamics__V1__QuantityResult *quantity_result_create(batch *b, Dynamics__V1__Quantity quantity, char *frame,
                                                     Dynamics__V1__ReferenceFrame reference_frame);

/* Copies samples first .. first + count - 1 from the library's values into the blocks, in the caller's order. Several
 * threads may fill different samples at once. */
void quantity_result_fill(const batch *b, Dynamics__V1__QuantityResult *result, size_t first, size_t count,
                          const double *values);

#endif
