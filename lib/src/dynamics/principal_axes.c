/* SPDX-License-Identifier: BSD-2-Clause */
#include "principal_axes.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>

/* Largest number of rounds over all pairs of rows. Rounds converge quadratically: ten are many. */
enum { MOST_ROUNDS = 40 };

static double dot(size_t n, const double *x, const double *y) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum += x[i] * y[i];
    }
    return sum;
}

/* Makes two rows orthogonal by a rotation. Returns false where they already are. */
static bool rotate(size_t n, double *x, double *y) {
    double xx = dot(n, x, x), yy = dot(n, y, y), xy = dot(n, x, y);
    if (fabs(xy) <= DBL_EPSILON * sqrt(xx) * sqrt(yy)) {
        return false;
    }
    double zeta = (yy - xx) / (2 * xy);
    double t = copysign(1, zeta) / (fabs(zeta) + hypot(zeta, 1)), c = 1 / hypot(t, 1), s = t * c;
    for (size_t i = 0; i < n; i++) {
        double a = x[i], b = y[i];
        x[i] = c * a - s * b;
        y[i] = s * a + c * b;
    }
    return true;
}

static void swap_rows(size_t n, double *x, double *y) {
    for (size_t i = 0; i < n; i++) {
        double a = x[i];
        x[i] = y[i];
        y[i] = a;
    }
}

/* Scales x to a unit vector whose largest component is positive. Returns the length. */
static double normalize(size_t n, double *x) {
    double length = sqrt(dot(n, x, x));
    size_t largest = 0;
    for (size_t i = 1; i < n; i++) {
        largest = fabs(x[i]) > fabs(x[largest]) ? i : largest;
    }
    double divisor = copysign(length, x[largest]);
    for (size_t i = 0; i < n && length > 0; i++) {
        x[i] /= divisor;
    }
    return length;
}

void dyn_principal_axes(size_t n, double *A, double *eigenvalues) {
    bool rotated = true;
    for (int round = 0; round < MOST_ROUNDS && rotated; round++) {
        rotated = false;
        for (size_t i = 0; i < n; i++) {
            for (size_t j = i + 1; j < n; j++) {
                rotated |= rotate(n, A + i * n, A + j * n);
            }
        }
    }
    for (size_t i = 0; i < n; i++) {
        size_t largest = i;
        for (size_t j = i + 1; j < n; j++) {
            largest = dot(n, A + j * n, A + j * n) > dot(n, A + largest * n, A + largest * n) ? j : largest;
        }
        swap_rows(n, A + i * n, A + largest * n);
        eigenvalues[i] = normalize(n, A + i * n);
    }
}
