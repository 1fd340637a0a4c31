/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory layout of the values of a quantity: sizes, and the conversion from the library's layout to the caller's.
 */
#ifndef SERVER_METHODS_QUANTITY_LAYOUT_H
#define SERVER_METHODS_QUANTITY_LAYOUT_H

#include "methods/quantities.h"

/* Returns the number of values of one sample in a block of a quantity. */
size_t quantity_block_size(const batch *b, const quantity_place *at, const quantity_block *block);

/* Returns the number of values of one sample in all blocks of a quantity, which the library writes together. */
size_t quantity_width(const batch *b, const quantity_place *at, const quantity_row *of);

/* Returns whether the layouts of the library and of the caller are equal, so that the library can write into the
 * result. */
bool quantity_is_direct(const batch *b, const quantity_place *at, const quantity_row *of);

/* Copies samples first .. first + count - 1 from the library's rows into the arrays of the blocks, in the caller's
 * order. Several threads may copy different samples at once. */
void quantity_copy(const batch *b, const quantity_place *at, const quantity_row *of, size_t first, size_t count,
                   const double *rows, double *const to[QUANTITY_BLOCKS]);

#endif
