/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How the values of a quantity lie in memory: as the library writes them, and as the caller wants them.
 */
#ifndef SERVER_METHODS_QUANTITY_LAYOUT_H
#define SERVER_METHODS_QUANTITY_LAYOUT_H

#include "methods/quantities.h"

/* Number of values of one sample: of a block, and of all blocks of a quantity, which the library writes together. */
size_t quantity_block_size(const batch *b, const quantity_place *at, const quantity_block *block);
size_t quantity_width(const batch *b, const quantity_place *at, const quantity_row *of);

/* Returns whether the library writes the values of a quantity as the caller wants them. */
bool quantity_is_direct(const batch *b, const quantity_place *at, const quantity_row *of);

/* Copies samples first .. first + count - 1 from the library's rows into the arrays of the blocks, in the caller's
 * order. Several threads may copy different samples at once. */
void quantity_copy(const batch *b, const quantity_place *at, const quantity_row *of, size_t first, size_t count,
                   const double *rows, double *const to[QUANTITY_BLOCKS]);

#endif
