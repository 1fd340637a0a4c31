/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reorders sums: fewer instructions, and shorter dependency chains.
 *
 * A sum that one other sum alone needs is part of that one, so that what is summed up is all terms of a tree of sums.
 * Of a b + c d + e, the fused operations fma(a, b, fma(c, d, e)) are two, while (a b + c d) + e takes three: products
 * are added one by one to what is no product. The terms that are known first come first. Results change by rounding
 * only.
 */
#ifndef DYNAMICS_COMPILE_REASSOCIATE_H
#define DYNAMICS_COMPILE_REASSOCIATE_H

#include "compiled_function.h"

/* The function over a graph that has its live nodes alone, besides constants that were folded. */
compiled_function reassociate(const compiled_function &f);

#endif
