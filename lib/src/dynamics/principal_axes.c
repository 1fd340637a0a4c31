/* SPDX-License-Identifier: BSD-2-Clause */
#include "../model/vector3.h"
#include "principal_axes.h"

#include <dynamics/inertia.h>
#include <float.h>
#include <math.h>
#include <stdbool.h>

/* Difference of moments, as a share of the largest, and of components of a unit vector, that counts as none. */
static const double least_difference = 1e-9;

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

/* Turns a unit vector so that the first of its largest components is positive. */
static void choose_sign(double x[3]) {
    int largest = 0;
    for (int i = 1; i < 3; i++) {
        largest = fabs(x[i]) > fabs(x[largest]) + least_difference ? i : largest;
    }
    double sign = copysign(1, x[largest]);
    for (int i = 0; i < 3; i++) {
        x[i] *= sign;
    }
}

/* Sets y to the first of the coordinate axes that are nearest to the plane perpendicular to x, projected onto it. */
static void choose_in_plane(const double x[3], double y[3]) {
    int nearest = 0;
    for (int i = 1; i < 3; i++) {
        nearest = fabs(x[i]) < fabs(x[nearest]) - least_difference ? i : nearest;
    }
    for (int i = 0; i < 3; i++) {
        y[i] = (i == nearest) - x[nearest] * x[i];
    }
    double length = sqrt(dot(3, y, y));
    for (int i = 0; i < 3; i++) {
        y[i] /= length;
    }
}

void dyn_inertia_principal_axes(const dyn_inertia *inertia, double axes[9]) {
    static const int entry[9] = {0, 1, 2, 1, 3, 4, 2, 4, 5};
    double square = 0, moments[3];
    for (int i = 0; i < 9; i++) {
        square += inertia->rotational[entry[i]] * inertia->rotational[entry[i]];
    }
    /* The eigenvectors of s 1 - I are those of I, in the reverse order, and it is positive definite. */
    double s = square > 0 ? 2 * sqrt(square) : 1;
    for (int i = 0; i < 9; i++) {
        axes[i] = (i % 4 == 0 ? s : 0) - inertia->rotational[entry[i]];
    }
    dyn_principal_axes(3, axes, moments);
    dyn_choose_body_axes(moments, axes);
}

void dyn_choose_body_axes(const double moments[3], double axes[9]) {
    double gap = least_difference * moments[0];
    bool are_first_equal = moments[0] - moments[1] <= gap, are_last_equal = moments[1] - moments[2] <= gap;
    if (are_first_equal && are_last_equal) {
        for (int i = 0; i < 9; i++) {
            axes[i] = i % 4 == 0;
        }
    } else if (are_first_equal) {
        choose_sign(axes + 6);
        choose_in_plane(axes + 6, axes);
        vector3_cross(axes + 6, axes, axes + 3);
    } else {
        choose_sign(axes);
        if (are_last_equal) {
            choose_in_plane(axes, axes + 3);
        } else {
            choose_sign(axes + 3);
        }
        vector3_cross(axes, axes + 3, axes + 6);
    }
}
