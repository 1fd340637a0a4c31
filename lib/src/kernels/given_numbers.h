/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Numbers on their way to the caller as unpack gives them, where an instance of one sample finds many side by side: its
 * results are looked at before they are stored, and not loaded again. What includes this is compiled with regard to the
 * sign of a zero, to NaN and to infinity, as lanes.c is.
 */
#ifndef DYNAMICS_KERNELS_GIVEN_NUMBERS_H
#define DYNAMICS_KERNELS_GIVEN_NUMBERS_H

#include <string.h>

#include "instance.h"

/* As unpack gives a number; what is added to *zeros is zero times the number, which is no zero unless it is finite. */
KERNEL_STEP real give(real x, real *zeros) {
#if (DYN_LANES == 1 || defined DYN_COLUMN_LANES) && !defined DYN_REAL_HEADER
    const real zero = real_set(0);
    x = x + zero;
    *zeros = real_fma(x, zero, *zeros);
#else
    (void)zeros;
#endif
    return x;
}

/* Returns whether they all are. */
static inline int are_zero(real zeros) {
#if defined DYN_REAL_HEADER
    (void)zeros;
    return 1;
#else
    number lanes[DYN_LANES];
    int zero = 1;
    memcpy(lanes, &zeros, sizeof lanes);
    for (int l = 0; l < DYN_LANES; l++) {
        zero &= lanes[l] == 0;
    }
    return zero;
#endif
}

#endif
