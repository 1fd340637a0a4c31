/* SPDX-License-Identifier: BSD-2-Clause */
#include "least_norm.h"

#include <math.h>
#include <stdbool.h>

#include "../dynamics/carve.h"

/* Least pivot of an independent row, as a share of its own diagonal entry, and of the largest one. */
static const double own_share = 1e-10, largest_share = 1e-13;

size_t least_norm_lay_out(int m, uintptr_t base, least_norm *s) {
    uintptr_t cursor = base;
    size_t rows = (size_t)m * sizeof(double);
    s->L = dyn_carve(&cursor, (size_t)m * rows);
    s->pivots = dyn_carve(&cursor, rows);
    s->product = dyn_carve(&cursor, (size_t)m * rows);
    s->x = dyn_carve(&cursor, rows);
    return cursor - base;
}

/* Returns the row with the largest share of its diagonal entry left, or -1 where all rows that remain depend on the
 * pivots chosen so far. */
static int next_pivot(int m, const double *R, const least_norm *s, double floor) {
    int best = -1;
    double most = own_share;
    for (int i = 0; i < m; i++) {
        double own = R[i * m + i], share = s->pivots[i] > floor ? s->pivots[i] / own : 0;
        if (share > most) {
            best = i, most = share;
        }
    }
    return best;
}

/* Computes L by Cholesky factorization with pivots on the diagonal. Returns the number of its columns. */
static int factorize(int m, const double *R, least_norm *s) {
    double largest = 0;
    for (int i = 0; i < m; i++) {
        s->pivots[i] = R[i * m + i];
        largest = fmax(largest, s->pivots[i]);
    }
    for (int k = 0; k < m; k++) {
        int p = next_pivot(m, R, s, largest_share * largest);
        if (p < 0) {
            return k;
        }
        double root = sqrt(s->pivots[p]);
        for (int i = 0; i < m; i++) {
            double entry = R[i * m + p];
            for (int j = 0; j < k; j++) {
                entry -= s->L[i * m + j] * s->L[p * m + j];
            }
            s->L[i * m + k] = entry / root;
            s->pivots[i] -= s->L[i * m + k] * s->L[i * m + k];
        }
        s->pivots[p] = 0;
    }
    return m;
}

/* Factorizes L'L = C C' with a lower triangular C. */
static void factorize_product(int m, int k, least_norm *s) {
    for (int r = 0; r < k; r++) {
        for (int c = 0; c <= r; c++) {
            double entry = 0;
            for (int i = 0; i < m; i++) {
                entry += s->L[i * m + r] * s->L[i * m + c];
            }
            for (int j = 0; j < c; j++) {
                entry -= s->product[r * m + j] * s->product[c * m + j];
            }
            s->product[r * m + c] = r == c ? sqrt(entry) : entry / s->product[c * m + c];
        }
    }
}

/* Replaces x = s->x by (L'L)^-1 x. */
static void solve_product(int m, int k, const least_norm *s) {
    double *x = s->x;
    for (int r = 0; r < k; r++) {
        for (int j = 0; j < r; j++) {
            x[r] -= s->product[r * m + j] * x[j];
        }
        x[r] /= s->product[r * m + r];
    }
    for (int r = k - 1; r >= 0; r--) {
        for (int j = r + 1; j < k; j++) {
            x[r] -= s->product[j * m + r] * x[j];
        }
        x[r] /= s->product[r * m + r];
    }
}

int least_norm_factorize(int m, const double *R, least_norm *s) {
    int k = factorize(m, R, s);
    factorize_product(m, k, s);
    return k;
}

void least_norm_apply(int m, int k, const double *b, least_norm *s, double *lambda) {
    for (int c = 0; c < k; c++) {
        s->x[c] = 0;
        for (int i = 0; i < m; i++) {
            s->x[c] += s->L[i * m + c] * b[i];
        }
    }
    solve_product(m, k, s);
    solve_product(m, k, s);
    for (int i = 0; i < m; i++) {
        lambda[i] = 0;
        for (int c = 0; c < k; c++) {
            lambda[i] += s->L[i * m + c] * s->x[c];
        }
    }
}

int least_norm_solve(int m, const double *R, const double *b, least_norm *s, double *lambda) {
    int k = least_norm_factorize(m, R, s);
    least_norm_apply(m, k, b, s, lambda);
    return k;
}
