/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Factorization M = L' D L of the joint-space inertia matrix, with L lower triangular and of unit diagonal.
 *
 * Entry (i, j) of M is zero unless one of the coordinates i and j is an ancestor of the other in the tree. If M is
 * factorized from the tips to the root, L has the same zeros. The ancestors of i are parent[i], parent[parent[i]] and
 * so on. Coupled mimic joints connect branches: in their models each coordinate is an ancestor of all later ones.
 *
 * Source: Featherstone 2005, "Efficient factorization of the joint-space inertia matrix for branched kinematic trees",
 * and Featherstone 2008, section 6.5.
 */
#include "instance.h"

void KERNEL(coordinate_parents)(const dyn_model *model, int *parent) {
    for (int i = 0; i < model->body_count; i++) {
        const body *b = &model->bodies[i];
        int above = -1;
        if (b->parent >= 0) {
            const body *p = &model->bodies[b->parent];
            above = p->v_index + p->nv - 1;
        }
        for (int k = 0; k < b->nv; k++) {
            int c = b->v_index + k;
            parent[c] = k > 0 || model->has_mimic ? c - 1 : above;
        }
    }
}

void KERNEL(factorize)(int n, const int *parent, real *M) {
    for (int k = n - 1; k >= 0; k--) {
        real inverse_D = real_set(1) / M[k * n + k];
        for (int i = parent[k]; i >= 0; i = parent[i]) {
            real L = M[k * n + i] * inverse_D;
            for (int j = i; j >= 0; j = parent[j]) {
                M[i * n + j] = real_fma(-L, M[k * n + j], M[i * n + j]);
            }
            M[k * n + i] = L;
        }
    }
}

/* Number of columns that are solved for at once, so that the entries of a row stay in registers. One lane, or many
 * registers, allow more columns. */
enum { FEW = 4, MANY = DYN_LANES == 1 ? 16 : sizeof(real) == 64 ? 8 : FEW };

/* Returns the end of the coordinates of the subtrees of coordinates first .. first + count - 1. */
static inline int end_of_subtrees(int n, const int *parent, int first, int count) {
    int end = first + count;
    while (end < n && parent[end] >= first) {
        end++;
    }
    return end;
}

/* Factors of M, and the factor of the solution: x = scale M^-1 b. */
typedef struct factors {
    int n;
    const int *parent;
    const real *L;
    real scale;
} factors;

/* Solves for `count` columns from `first` on of x, whose rows are m apart, and of y unless it is NULL: L' from the tips
 * to the root, then D, and L from the root to the tips. If y is given, the columns of both arrays have zeros in the
 * rows of other branches, and these rows are skipped on the way to the root. */
KERNEL_STEP void solve_columns(const factors *f, int m, int first, int count, real *x, real *y) {
    const int n = f->n, *parent = f->parent;
    const real *L = f->L, scale = f->scale;
    int end = y ? end_of_subtrees(n, parent, first, count) : n;
    for (int i = end - 1; i >= 0; i = i > first || !y ? i - 1 : parent[i]) {
        real x_i[MANY], y_i[MANY];
        for (int c = 0; c < count; c++) {
            x_i[c] = x[i * m + first + c];
            y_i[c] = y ? y[i * m + first + c] : x_i[c];
        }
        for (int j = parent[i]; j >= 0; j = parent[j]) {
            for (int c = 0, at = j * m + first; c < count; c++, at++) {
                x[at] = real_fma(-L[i * n + j], x_i[c], x[at]);
            }
            for (int c = 0, at = j * m + first; c < count && y; c++, at++) {
                y[at] = real_fma(-L[i * n + j], y_i[c], y[at]);
            }
        }
    }
    for (int i = 0; i < n; i++) {
        real x_i[MANY], y_i[MANY], s = scale / L[i * n + i];
        for (int c = 0; c < count; c++) {
            x_i[c] = s * x[i * m + first + c];
            y_i[c] = y ? s * y[i * m + first + c] : x_i[c];
        }
        for (int j = parent[i]; j >= 0; j = parent[j]) {
            for (int c = 0; c < count; c++) {
                x_i[c] = real_fma(-L[i * n + j], x[j * m + first + c], x_i[c]);
                y_i[c] = y ? real_fma(-L[i * n + j], y[j * m + first + c], y_i[c]) : x_i[c];
            }
        }
        for (int c = 0; c < count; c++) {
            x[i * m + first + c] = x_i[c];
        }
        for (int c = 0; c < count && y; c++) {
            y[i * m + first + c] = y_i[c];
        }
    }
}

/* Solves for the columns from `done` on, FEW at once, and for the last one to three together. */
KERNEL_STEP void solve_rest(const factors *f, int m, int done, real *x, real *y) {
    for (; done + FEW <= m; done += FEW) {
        solve_columns(f, m, done, FEW, x, y);
    }
    if (m - done == 1) {
        solve_columns(f, m, done, 1, x, y);
    } else if (m - done == 2) {
        solve_columns(f, m, done, 2, x, y);
    } else if (m - done == 3) {
        solve_columns(f, m, done, 3, x, y);
    }
}

KERNEL_STEP void solve_all(const factors *f, int m, real *x, real *y) {
    int done = 0;
    for (; done + MANY <= m; done += MANY) {
        solve_columns(f, m, done, MANY, x, y);
    }
    if (MANY == 8 && m - done == 7) {
        solve_columns(f, m, done, 7, x, y);
    } else if (MANY == 8 && m - done == 6) {
        solve_columns(f, m, done, 6, x, y);
    } else {
        solve_rest(f, m, done, x, y);
    }
}

void KERNEL(solve)(int n, const int *parent, const real *L, real scale, int m, real *x) {
    const factors f = {n, parent, L, scale};
    solve_all(&f, m, x, NULL);
}

void KERNEL(solve_both)(int n, const int *parent, const real *L, real scale, real *__restrict x, real *__restrict y) {
    const factors f = {n, parent, L, scale};
    solve_all(&f, n, x, y);
}

/* Computes L^-1 below the diagonal and D^-1 on it, in place. */
static void invert_factors(int n, const int *parent, real *M) {
    for (int i = n - 1; i >= 0; i--) {
        M[i * n + i] = real_set(1) / M[i * n + i];
        for (int j = parent[i]; j >= 0; j = parent[j]) {
            M[i * n + j] = -M[i * n + j];
        }
        for (int j = parent[i]; j >= 0; j = parent[j]) {
            for (int k = parent[j]; k >= 0; k = parent[k]) {
                M[i * n + k] = real_fma(-M[i * n + j], M[j * n + k], M[i * n + k]);
            }
        }
    }
}

/* Stores entries (i, j) of M^-1 for `count` columns j from `first` on, and their mirror. Row i holds D^-1 L^-1, and the
 * entries above the diagonal hold L^-T. Each entry is the sum of (D^-1 L^-1)_ik L^-T_kj over k = i and its ancestors.
 * The argument k is the first of these that does not follow the columns. Returns the first one that precedes them. */
KERNEL_STEP int invert_entries(int n, const int *parent, int i, int first, int count, int k, real *M) {
    real *row = M + i * n, x[FEW];
    for (int c = 0; c < count; c++) {
        x[c] = real_set(0);
    }
    for (; k >= first; k = parent[k]) {
        for (int c = 0; c < count; c++) {
            if (first + c == k) {
                x[c] = row[k];
            } else if (first + c > k) {
                x[c] = real_fma(row[k], M[k * n + first + c], x[c]);
            }
        }
    }
    for (int above = k; above >= 0; above = parent[above]) {
        for (int c = 0; c < count; c++) {
            x[c] = real_fma(row[above], M[above * n + first + c], x[c]);
        }
    }
    for (int c = 0; c < count; c++) {
        row[first + c] = M[(first + c) * n + i] = x[c];
    }
    return k;
}

/* Stores row and column i of M^-1 up to the diagonal. */
static void invert_row(int n, const int *parent, int i, real *M) {
    int k = i, last = i;
    for (int j = parent[i]; j >= 0; j = parent[j]) {
        M[i * n + j] = M[i * n + j] * M[j * n + j];
    }
    for (; last >= FEW - 1; last -= FEW) {
        k = invert_entries(n, parent, i, last - FEW + 1, FEW, k, M);
    }
    if (last == 0) {
        invert_entries(n, parent, i, 0, 1, k, M);
    } else if (last == 1) {
        invert_entries(n, parent, i, 0, 2, k, M);
    } else if (last == 2) {
        invert_entries(n, parent, i, 0, 3, k, M);
    }
}

/* M^-1 = L^-T D^-1 L^-1, in place, from the last row to the first. */
void KERNEL(invert)(int n, const int *parent, real *M) {
    invert_factors(n, parent, M);
    for (int i = 0; i < n; i++) {
        for (int k = parent[i]; k >= 0; k = parent[k]) {
            M[k * n + i] = M[i * n + k];
        }
    }
    for (int i = n - 1; i >= 0; i--) {
        invert_row(n, parent, i, M);
    }
}
