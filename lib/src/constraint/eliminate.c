/* SPDX-License-Identifier: BSD-2-Clause */
#include "eliminate.h"

#include <math.h>
#include <stdbool.h>

/* Share of the largest diagonal entry at which the pivot of a row counts as zero. */
static const double dependent = 1e-10;

/* Returns whether row i is neither row p nor eliminated before it. */
static bool remains(int i, int first, int p) {
    return i < first || i > p;
}

void eliminate_equalities(int m, int first, double *R) {
    double largest = 0;
    for (int p = first; p < m; p++) {
        largest = fmax(largest, R[p * (m + 1)]);
    }
    for (int p = first; p < m; p++) {
        double *row = R + p * m, pivot = row[p];
        if (!(pivot > dependent * largest)) {
            row[p] = 0;
            continue;
        }
        for (int i = 0; i < m; i++) {
            double factor = remains(i, first, p) ? R[i * m + p] / pivot : 0;
            for (int j = 0; j < m && factor != 0; j++) {
                R[i * m + j] -= remains(j, first, p) ? factor * row[j] : 0;
            }
        }
    }
}

void eliminate_recover(int m, int first, const double *R, double *w) {
    for (int p = m - 1; p >= first; p--) {
        const double *row = R + p * m;
        double sum = 0;
        for (int j = 0; j < m; j++) {
            sum -= remains(j, first, p) ? row[j] * w[j] : 0;
        }
        w[p] = row[p] > 0 ? sum / row[p] : 0;
    }
}
