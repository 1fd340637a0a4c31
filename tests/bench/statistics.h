/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Order statistics of measurements.
 */
#ifndef DYNAMICS_BENCH_STATISTICS_H
#define DYNAMICS_BENCH_STATISTICS_H

#include <stddef.h>

/* Sorts in ascending order. */
void sort_numbers(double *x, size_t count);

/* Returns the smallest value that at least a share (0 to 1) of the sorted values does not exceed; NaN where there are
 * no values. */
double percentile(const double *sorted, size_t count, double share);

/* Sorts x and returns its median; NaN where there are no values. */
double median(double *x, size_t count);

#endif
