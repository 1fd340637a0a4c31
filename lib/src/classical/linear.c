/* SPDX-License-Identifier: BSD-2-Clause */
#include "linear.h"

void KERNEL(factorize_symmetric)(int n, real *A) {
    for (int j = 0; j < n; j++) {
        real *row = A + j * n;
        /* Row j of L, still multiplied by D. */
        for (int i = 0; i < j; i++) {
            for (int k = 0; k < i; k++) {
                row[i] -= A[i * n + k] * row[k];
            }
        }
        for (int k = 0; k < j; k++) {
            real product = row[k];
            row[k] = product / A[k * n + k];
            row[j] -= row[k] * product;
        }
    }
}

void KERNEL(solve_symmetric)(int n, const real *factors, real *x) {
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < i; k++) {
            x[i] -= factors[i * n + k] * x[k];
        }
    }
    for (int i = 0; i < n; i++) {
        x[i] = x[i] / factors[i * n + i];
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int k = i + 1; k < n; k++) {
            x[i] -= factors[k * n + i] * x[k];
        }
    }
}

void KERNEL(invert_symmetric)(int n, const real *factors, real *inverse) {
    for (int j = 0; j < n; j++) {
        /* Column j of a symmetric matrix is its row j. */
        real *column = inverse + j * n;
        for (int i = 0; i < n; i++) {
            column[i] = real_set(i == j);
        }
        KERNEL(solve_symmetric)(n, factors, column);
    }
}

void KERNEL(multiply_add)(int rows, int columns, const real *A, const real *x, real *y) {
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < columns; j++) {
            y[i] += A[i * columns + j] * x[j];
        }
    }
}
