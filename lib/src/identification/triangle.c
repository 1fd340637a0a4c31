/* SPDX-License-Identifier: BSD-2-Clause */
#include "triangle.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* ---- Triangular factor ------------------------------------------------------------------------------------------- */

void triangle_append(size_t size, double *R, size_t rows, double *A, double *scratch) {
    for (size_t k = 0; k < size; k++) {
        double square = 0, *top = R + k * size;
        for (size_t r = 0; r < rows; r++) {
            square += A[r * size + k] * A[r * size + k];
        }
        /* Squares of smaller numbers lose their digits. Such entries are residues of rounding, and count as zero. */
        if (square < DBL_MIN / DBL_EPSILON) {
            continue;
        }
        double diagonal = -copysign(sqrt(top[k] * top[k] + square), top[k]), first = top[k] - diagonal;
        double factor = 2 / (first * first + square);
        for (size_t c = k + 1; c < size; c++) {
            scratch[c] = first * top[c];
        }
        for (size_t r = 0; r < rows; r++) {
            double head = A[r * size + k];
            for (size_t c = k + 1; c < size; c++) {
                scratch[c] += head * A[r * size + c];
            }
        }
        for (size_t c = k + 1; c < size; c++) {
            scratch[c] *= factor;
            top[c] -= first * scratch[c];
        }
        for (size_t r = 0; r < rows; r++) {
            double head = A[r * size + k];
            for (size_t c = k + 1; c < size; c++) {
                A[r * size + c] -= head * scratch[c];
            }
        }
        top[k] = diagonal;
    }
}

/* ---- Singular values --------------------------------------------------------------------------------------------- */

static double dot(size_t n, const double *x, const double *y) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum += x[i] * y[i];
    }
    return sum;
}

static void rotate(size_t n, double cosine, double sine, double *x, double *y) {
    for (size_t i = 0; i < n; i++) {
        double a = x[i], b = y[i];
        x[i] = cosine * a - sine * b;
        y[i] = sine * a + cosine * b;
    }
}

/* Makes columns i and j perpendicular. Returns false if they were already. */
static bool separate(size_t n, double *columns, double *V, size_t i, size_t j) {
    double *x = columns + i * n, *y = columns + j * n;
    double xx = dot(n, x, x), yy = dot(n, y, y), xy = dot(n, x, y);
    if (fabs(xy) <= 4 * DBL_EPSILON * sqrt(xx * yy)) {
        return false;
    }
    double slope = (yy - xx) / (2 * xy);
    double tangent = copysign(1, slope) / (fabs(slope) + sqrt(1 + slope * slope));
    double cosine = 1 / sqrt(1 + tangent * tangent), sine = tangent * cosine;
    rotate(n, cosine, sine, x, y);
    rotate(n, cosine, sine, V + i * n, V + j * n);
    return true;
}

static void exchange(size_t n, double *x, double *y) {
    for (size_t i = 0; i < n; i++) {
        double a = x[i];
        x[i] = y[i], y[i] = a;
    }
}

void singular_values(size_t n, double *columns, double *V, double *S) {
    enum { MOST_SWEEPS = 60 };
    memset(V, 0, n * n * sizeof *V);
    for (size_t i = 0; i < n; i++) {
        V[i * n + i] = 1;
    }
    bool rotated = true;
    for (int sweep = 0; sweep < MOST_SWEEPS && rotated; sweep++) {
        rotated = false;
        for (size_t i = 0; i < n; i++) {
            for (size_t j = i + 1; j < n; j++) {
                rotated |= separate(n, columns, V, i, j);
            }
        }
    }
    for (size_t i = 0; i < n; i++) {
        S[i] = sqrt(dot(n, columns + i * n, columns + i * n));
    }
    for (size_t i = 0; i < n; i++) {
        size_t best = i;
        for (size_t j = i + 1; j < n; j++) {
            best = S[j] > S[best] ? j : best;
        }
        if (best != i) {
            exchange(n, columns + i * n, columns + best * n);
            exchange(n, V + i * n, V + best * n);
            exchange(1, S + i, S + best);
        }
    }
}

/* ---- Positive definite systems ----------------------------------------------------------------------------------- */

/* Factorizes A = L L' in place; returns false if A is not positive definite. */
static bool factorize(size_t n, double *A) {
    for (size_t i = 0; i < n; i++) {
        double *row = A + i * n;
        for (size_t j = 0; j <= i; j++) {
            double rest = row[j] - dot(j, row, A + j * n);
            if (j < i) {
                row[j] = rest / A[j * n + j];
            } else if (rest > 0) {
                row[i] = sqrt(rest);
            } else {
                return false;
            }
        }
    }
    return true;
}

bool solve_definite(size_t n, double *A, double *b, double *scale) {
    for (size_t i = 0; i < n; i++) {
        if (!(A[i * n + i] > 0)) {
            return false;
        }
        scale[i] = 1 / sqrt(A[i * n + i]);
        b[i] *= scale[i];
        for (size_t j = 0; j <= i; j++) {
            A[i * n + j] *= scale[i] * scale[j];
        }
    }
    if (!factorize(n, A)) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        b[i] = (b[i] - dot(i, A + i * n, b)) / A[i * n + i];
    }
    for (size_t i = n; i-- > 0;) {
        for (size_t k = i + 1; k < n; k++) {
            b[i] -= A[k * n + i] * b[k];
        }
        b[i] /= A[i * n + i];
    }
    for (size_t i = 0; i < n; i++) {
        b[i] *= scale[i];
    }
    return true;
}
