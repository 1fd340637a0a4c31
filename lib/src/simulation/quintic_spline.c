/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Quintic splines.
 *
 * Between two rows the position is the quintic that has x, v and a of both. With h = t_(i+1) - t_i and d = (x_(i+1) -
 * x_i) / h, its third and fourth derivatives are
 *     at t_i      (60 d - 36 v_i - 24 v_(i+1)) / h^2 - (9 a_i - 3 a_(i+1)) / h
 *                 (-360 d + 192 v_i + 168 v_(i+1)) / h^3 + (36 a_i - 24 a_(i+1)) / h^2
 *     at t_(i+1)  (60 d - 24 v_i - 36 v_(i+1)) / h^2 + (9 a_(i+1) - 3 a_i) / h
 *                 (360 d - 168 v_i - 192 v_(i+1)) / h^3 + (36 a_(i+1) - 24 a_i) / h^2
 * Both are continuous at each inner row. For z_i = (v_i, a_i) this is the block tridiagonal system
 *     A_i z_(i-1) + B_i z_i + C_i z_(i+1) = b_i,
 * which elimination solves: z_i = r_i - Q_i z_(i+1).
 *
 * Source: Biagiotti and Melchiorri 2008, chapter 4; Spaeth 1995, chapter 5.
 */
#include "quintic_spline.h"

/* Equations of an inner row: continuity of the third derivative, then of the fourth. */
typedef struct block_row {
    double A[2][2], B[2][2], C[2][2], b[2];
} block_row;

static block_row equations(const coordinate_rows *x, size_t i) {
    double h = row_interval(x, i - 1), k = row_interval(x, i), d = row_slope(x, i - 1), e = row_slope(x, i);
    double h2 = 1 / (h * h), k2 = 1 / (k * k);
    return (block_row){
        .A = {{-8 * h2, -1 / h}, {14 * h2 / h, 2 * h2}},
        .B = {{12 * (k2 - h2), 3 / h + 3 / k}, {16 * (h2 / h + k2 / k), 3 * (k2 - h2)}},
        .C = {{8 * k2, -1 / k}, {14 * k2 / k, -2 * k2}},
        .b = {20 * (e * k2 - d * h2), 30 * (d * h2 / h + e * k2 / k)},
    };
}

/* Computes Q_i and r_i, with r_i in the rows of v and a; `before` is Q_(i-1). */
static void eliminate(const coordinate_rows *x, size_t i, const double before[4], double Q[4]) {
    block_row e = equations(x, i);
    size_t s = x->v_stride;
    double r[2] = {x->v[(i - 1) * s], x->a[(i - 1) * s]}, D[2][2], b[2];
    for (int k = 0; k < 2; k++) {
        for (int l = 0; l < 2; l++) {
            D[k][l] = e.B[k][l] - e.A[k][0] * before[l] - e.A[k][1] * before[2 + l];
        }
        b[k] = e.b[k] - e.A[k][0] * r[0] - e.A[k][1] * r[1];
    }
    double determinant = D[0][0] * D[1][1] - D[0][1] * D[1][0];
    for (int l = 0; l < 2; l++) {
        Q[l] = (D[1][1] * e.C[0][l] - D[0][1] * e.C[1][l]) / determinant;
        Q[2 + l] = (D[0][0] * e.C[1][l] - D[1][0] * e.C[0][l]) / determinant;
    }
    x->v[i * s] = (D[1][1] * b[0] - D[0][1] * b[1]) / determinant;
    x->a[i * s] = (D[0][0] * b[1] - D[1][0] * b[0]) / determinant;
}

void quintic_spline(const coordinate_rows *x, double *scratch) {
    size_t n = x->n, s = x->v_stride;
    for (int k = 0; k < QUINTIC_SCRATCH; k++) {
        scratch[k] = 0;
    }
    for (size_t i = 1; i + 1 < n; i++) {
        eliminate(x, i, scratch + QUINTIC_SCRATCH * (i - 1), scratch + QUINTIC_SCRATCH * i);
    }
    for (size_t i = n - 1; i-- > 1;) {
        const double *Q = scratch + QUINTIC_SCRATCH * i;
        double v = x->v[(i + 1) * s], a = x->a[(i + 1) * s];
        x->v[i * s] -= Q[0] * v + Q[1] * a;
        x->a[i * s] -= Q[2] * v + Q[3] * a;
    }
}
