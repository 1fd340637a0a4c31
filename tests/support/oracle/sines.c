/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Computes sines and cosines of angles of type `real`. Replaces kernels/sines.c in the oracles (oracle.h).
 */
#include "kernels/instance.h"

void KERNEL(sines)(const void *angle, int count, void *sine, void *cosine) {
    const real *x = (const real *)angle;
    real *s = (real *)sine, *c = (real *)cosine;
    for (int i = 0; i < count; i++) {
        real_sincos(x[i], &s[i], &c[i]);
    }
}
