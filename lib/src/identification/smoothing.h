/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Low-pass filter without delay for samples at any times.
 */
#ifndef DYNAMICS_IDENTIFICATION_SMOOTHING_H
#define DYNAMICS_IDENTIFICATION_SMOOTHING_H

#include <stddef.h>

/* Numbers of scratch memory for each sample. */
enum { SMOOTHING_SCRATCH = 5 };

/* Replaces x by the values z that minimize the integral of (z - x)^2 + (2 pi cutoff)^-6 (d^3 z / dt^3)^2, at the times
 * `time` (n, strictly increasing, s). x has n samples, `stride` numbers apart. The gain at frequency f is about
 * 1 / (1 + (f / cutoff)^6). The third derivative is a divided difference of four samples. `scratch` has n
 * SMOOTHING_SCRATCH numbers. Cost O(n). */
void smooth(size_t n, const double *time, double cutoff, size_t stride, double *x, double *scratch);

#endif
