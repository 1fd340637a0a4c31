/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Order statistics of measurements.
 */
#ifndef DYNAMICS_BENCH_STATISTICS_H
#define DYNAMICS_BENCH_STATISTICS_H

#include <stddef.h>

/* Sorts upwards. */
void sort_numbers(double *x, size_t count);

/* The value that a share (0 to 1) of the sorted values does not exceed; NaN of none. */
double percentile(const double *sorted, size_t count, double share);

/* The median; sorts x. */
double median(double *x, size_t count);

#endif
