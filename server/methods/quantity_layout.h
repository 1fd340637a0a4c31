/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory layout of the values of a quantity: that of the library, and that of the caller.
 */
#ifndef SERVER_METHODS_QUANTITY_LAYOUT_H
#define SERVER_METHODS_QUANTITY_LAYOUT_H

#include "methods/quantities.h"

/* Return the number of values of one sample: of a block, and of all blocks of a quantity, which the library writes
 * together. */
size_t quantity_block_size(const batch *b, const quantity_place *at, const quantity_block *block);
size_t quantity_width(const batch *b, const quantity_place *at, const quantity_row *of);

/* Returns whether the layouts of the library and of the caller are equal. */
bool quantity_is_direct(const batch *b, const quantity_place *at, const quantity_row *of);

/* Copies samples first .. first + count - 1 from the library's rows into the arrays of the blocks, in the caller's
 * order. Several threads may copy different samples at once. */
void quantity_copy(const batch *b, const quantity_place *at, const quantity_row *of, size_t first, size_t count,
                   const double *rows, double *const to[QUANTITY_BLOCKS]);

#endif
