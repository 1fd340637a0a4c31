/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finishes numbers that kernels store in the rows of the caller, as unpack does, in instances of one sample: makes
 * zeros positive and checks for NaN and infinity. The numbers are checked while they are in registers, so that they
 * need not be loaded again. The compiler options of files that include this one preserve the sign of a zero, NaN and
 * infinity, as those of lanes.c do.
 */
#ifndef DYNAMICS_KERNELS_FINISHED_NUMBERS_H
#define DYNAMICS_KERNELS_FINISHED_NUMBERS_H

#include <string.h>

#include "instance.h"

/* Returns x with a positive zero, and adds zero times x to *zeros, which then is not zero unless x is finite. Other
 * instances leave both to unpack. */
KERNEL_STEP real finish_number(real x, real *zeros) {
#if (DYN_LANES == 1 || defined DYN_COLUMN_LANES) && !defined DYN_REAL_HEADER
    const real zero = real_set(0);
    x = x + zero;
    *zeros = real_fma(x, zero, *zeros);
#else
    (void)zeros;
#endif
    return x;
}

/* Returns true if the sum that finish_number adds to is zero in all lanes, so that all numbers are finite. Instances
 * with DYN_REAL_HEADER do not compute the sum and return true. */
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
