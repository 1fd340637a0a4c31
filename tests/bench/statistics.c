/* SPDX-License-Identifier: BSD-2-Clause */
#include "statistics.h"

#include <math.h>
#include <stdlib.h>

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void sort_numbers(double *x, size_t count) {
    qsort(x, count, sizeof *x, compare);
}

double percentile(const double *sorted, size_t count, double share) {
    if (count == 0) {
        return NAN;
    }
    size_t rank = (size_t)ceil(share * (double)count);
    return sorted[rank > 0 ? rank - 1 : 0];
}

double median(double *x, size_t count) {
    sort_numbers(x, count);
    return count % 2 || count == 0 ? percentile(x, count, 0.5) : (x[count / 2 - 1] + x[count / 2]) / 2;
}
