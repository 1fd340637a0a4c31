/* SPDX-License-Identifier: BSD-2-Clause */
#include "linear_system.h"

#include <math.h>
#include <string.h>

/* Least pivot of a scaled matrix that counts as different from zero. */
static const double rank_tolerance = 1e-9;

static void swap(double *x, double *y, int count) {
    for (int j = 0; j < count; j++) {
        double moved = x[j];
        x[j] = y[j];
        y[j] = moved;
    }
}

/* Adds `factor` times a row to another one. */
static void add(int count, double factor, const double *row, double *to) {
    for (int j = 0; j < count; j++) {
        to[j] += factor * row[j];
    }
}

static void divide(int count, double divisor, double *row) {
    for (int j = 0; j < count; j++) {
        row[j] /= divisor;
    }
}

/* Moves the largest entry of the rows from k on, and of the columns without pivots, to row k and position k of the
 * order. Returns its absolute value. */
static double choose_pivot(const linear_system *s, int k) {
    int row = k, position = k;
    double most = -1;
    for (int i = k; i < s->rows; i++) {
        for (int j = k; j < s->columns; j++) {
            double size = fabs(s->K[i * s->columns + s->order[j]]);
            if (size > most) {
                row = i, position = j, most = size;
            }
        }
    }
    int column = s->order[position];
    s->order[position] = s->order[k];
    s->order[k] = column;
    swap(s->K + row * s->columns, s->K + k * s->columns, s->columns);
    swap(s->B + row * s->right_count, s->B + k * s->right_count, s->right_count);
    return most;
}

int linear_eliminate(const linear_system *s) {
    int most = s->rows < s->columns ? s->rows : s->columns;
    for (int j = 0; j < s->columns; j++) {
        s->order[j] = j;
    }
    for (int k = 0; k < most; k++) {
        if (!(choose_pivot(s, k) > rank_tolerance)) {
            return k;
        }
        double *pivot_row = s->K + k * s->columns, *right = s->B + k * s->right_count, pivot = pivot_row[s->order[k]];
        divide(s->columns, pivot, pivot_row);
        divide(s->right_count, pivot, right);
        for (int i = 0; i < s->rows; i++) {
            double factor = i == k ? 0 : s->K[i * s->columns + s->order[k]];
            if (factor != 0) {
                add(s->columns, -factor, pivot_row, s->K + i * s->columns);
                add(s->right_count, -factor, right, s->B + i * s->right_count);
            }
        }
    }
    return most;
}

bool linear_solve(const linear_system *s, double *X) {
    if (linear_eliminate(s) < s->columns) {
        return false;
    }
    for (int k = 0; k < s->columns; k++) {
        memcpy(X + s->order[k] * s->right_count, s->B + k * s->right_count, (size_t)s->right_count * sizeof *X);
    }
    return true;
}

bool linear_factorize(int n, int stride, double *R) {
    for (int r = 0; r < n; r++) {
        for (int c = 0; c <= r; c++) {
            double entry = R[r * stride + c];
            for (int j = 0; j < c; j++) {
                entry -= R[r * stride + j] * R[c * stride + j];
            }
            if (r == c && !(entry > 0)) {
                return false;
            }
            R[r * stride + c] = r == c ? sqrt(entry) : entry / R[c * stride + c];
        }
    }
    return true;
}

void linear_apply(int n, int stride, const double *L, int width, double *X) {
    for (int r = 0; r < n; r++) {
        for (int j = 0; j < r; j++) {
            add(width, -L[r * stride + j], X + j * width, X + r * width);
        }
        divide(width, L[r * stride + r], X + r * width);
    }
    for (int r = n - 1; r >= 0; r--) {
        for (int j = r + 1; j < n; j++) {
            add(width, -L[j * stride + r], X + j * width, X + r * width);
        }
        divide(width, L[r * stride + r], X + r * width);
    }
}
