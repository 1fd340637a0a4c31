/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rows A a = c that a query states beside the constraints of its model (GivenRows).
 */
#ifndef SERVER_METHODS_GIVEN_ROWS_H
#define SERVER_METHODS_GIVEN_ROWS_H

#include "methods/batch.h"

/* Reads the rows of the query into b->given, in the model's order, if it has any. Returns false when the call has
 * ended. */
bool given_rows_read(batch *b);

/* Sets `rows` to those of the samples from `first` on. Returns `rows`, or NULL where the query states none. */
const dyn_given_rows *given_rows_from(const batch *b, size_t first, dyn_given_rows *rows);

/* Returns the number of rows of the model and of the query. */
size_t given_rows_total(const batch *b);

#endif
