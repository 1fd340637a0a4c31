/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Converts doubles to packed arrays of `real` and back, and checks the values. Replaces kernels/lanes.c in the oracles
 * (oracle.h), whose packed arrays hold one sample.
 */
#include <math.h>

#include "kernels/instance.h"

int KERNEL(all_within)(const double *x, size_t count, double bound) {
    size_t i = 0;
    while (i < count && fabs(x[i]) <= bound) {
        i++;
    }
    return i == count;
}

int KERNEL(all_finite)(const double *x, size_t count) {
    size_t i = 0;
    while (i < count && isfinite(x[i])) {
        i++;
    }
    return i == count;
}

int KERNEL(pack)(const double *rows, size_t stride, size_t width, size_t count, void *packed) {
    (void)stride, (void)count;
    for (size_t i = 0; i < width; i++) {
        ((real *)packed)[i] = real_set(rows[i]);
    }
    return KERNEL(all_finite)(rows, width);
}

int KERNEL(unpack)(const void *packed, size_t width, size_t count, double *rows) {
    (void)count;
    for (size_t i = 0; i < width; i++) {
        rows[i] = (double)((const real *)packed)[i];
    }
    return KERNEL(all_finite)(rows, width);
}

int KERNEL(all_positive)(const void *packed, size_t count) {
    size_t i = 0;
    while (i < count && (double)((const real *)packed)[i] > 0) {
        i++;
    }
    return i == count;
}
