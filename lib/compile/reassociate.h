/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reassociation of sums, for fewer instructions and shorter dependency chains.
 *
 * A sum whose only use is another sum is part of that one, so that all terms of a tree of sums are added together. For
 * a b + c d + e, fma(a, b, fma(c, d, e)) takes two operations, while (a b + c d) + e takes three. So products are added
 * one by one to a term that is not a product. Terms that are available first are added first. Results change by
 * rounding only.
 */
#ifndef DYNAMICS_COMPILE_REASSOCIATE_H
#define DYNAMICS_COMPILE_REASSOCIATE_H

#include "compiled_function.h"

/* Returns the function with reordered sums. Its graph contains the live nodes, and constants that were folded. */
compiled_function reassociate(const compiled_function &f);

#endif
