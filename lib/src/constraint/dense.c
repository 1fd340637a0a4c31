/* SPDX-License-Identifier: BSD-2-Clause */
#include "dense.h"

#include <math.h>

#include "../dynamics/carve.h"
#include "../model/linear_system.h"

/* Largest norm of a row of A, as a share of that of the largest row, that rounding may account for. */
static const double rounding_share = 1e-9;

size_t dense_lay_out(int n, int m, uintptr_t base, dense_scratch *s) {
    uintptr_t cursor = base;
    size_t columns = (size_t)n, sum = (size_t)(n + m);
    s->M = dyn_carve(&cursor, columns * columns * sizeof(double));
    s->f = dyn_carve(&cursor, columns * sizeof(double));
    s->K = dyn_carve(&cursor, sum * sum * sizeof(double));
    s->x = dyn_carve(&cursor, sum * sizeof(double));
    s->scale = dyn_carve(&cursor, sum * sizeof(double));
    s->reduced = dyn_carve(&cursor, columns * columns * sizeof(double));
    s->y = dyn_carve(&cursor, columns * sizeof(double));
    s->order = dyn_carve(&cursor, sum * sizeof(int));
    return cursor - base;
}

/* ---- Full system ------------------------------------------------------------------------------------------------- */

/* Computes the factors that bring the diagonal of M and the norms of the rows of A to one. Rows that are small beside
 * the largest one are rounding errors, and remain small. */
static void equilibrate(const dense_problem *p, double *scale) {
    double largest = 0;
    for (int i = 0; i < p->n; i++) {
        scale[i] = 1 / sqrt(p->M[i * p->n + i]);
    }
    for (int r = 0; r < p->m; r++) {
        double sum = 0;
        for (int i = 0; i < p->n; i++) {
            double entry = p->A[r * p->n + i] * scale[i];
            sum += entry * entry;
        }
        scale[p->n + r] = sqrt(sum);
        largest = fmax(largest, scale[p->n + r]);
    }
    for (int r = p->n; r < p->n + p->m && largest > 0; r++) {
        scale[r] = 1 / (scale[r] > rounding_share * largest ? scale[r] : largest);
    }
}

int dense_solve_full_system(const dense_problem *p, dense_scratch *s, double *a) {
    int n = p->n, sum = n + p->m;
    equilibrate(p, s->scale);
    for (int i = 0; i < sum; i++) {
        for (int j = 0; j < sum; j++) {
            double entry = i < n && j < n ? p->M[i * n + j] : i >= n && j < n ? p->A[(i - n) * n + j] : 0;
            entry = i < n && j >= n ? p->A[(j - n) * n + i] : entry;
            s->K[i * sum + j] = entry * s->scale[i] * s->scale[j];
        }
        s->x[i] = (i < n ? p->f[i] : p->c[i - n]) * s->scale[i];
    }
    const linear_system system = {sum, sum, 1, s->K, s->x, s->order};
    int pivots = linear_eliminate(&system);
    for (int k = 0; k < pivots; k++) {
        if (s->order[k] < n) {
            a[s->order[k]] = s->x[k] * s->scale[s->order[k]];
        }
    }
    return pivots - n;
}

/* ---- Independent coordinates ------------------------------------------------------------------------------------- */

/* Returns the entry of Z in the row of the coordinate at `position` of the order and in column z: the motion of that
 * coordinate with the independent one at position rank + z. */
static double null_space(const dense_problem *p, const dense_scratch *s, int rank, int position, int z) {
    int column = s->order[rank + z];
    double unscaled = s->scale[s->order[position]] / s->scale[column];
    return position < rank ? -s->K[position * p->n + column] * unscaled : position == rank + z;
}

/* Returns number i of M x. */
static double row_product(const dense_problem *p, int i, const double *x) {
    double sum = 0;
    for (int j = 0; j < p->n; j++) {
        sum += p->M[i * p->n + j] * x[j];
    }
    return sum;
}

/* Eliminates the scaled rows A a = c, and stores the solution whose independent coordinates are zero. Returns the rank
 * of A. */
static int solve_rows_alone(const dense_problem *p, dense_scratch *s, double *a) {
    int n = p->n, m = p->m;
    equilibrate(p, s->scale);
    for (int r = 0; r < m; r++) {
        for (int i = 0; i < n; i++) {
            s->K[r * n + i] = p->A[r * n + i] * s->scale[n + r] * s->scale[i];
        }
        s->x[r] = p->c[r] * s->scale[n + r];
    }
    const linear_system system = {m, n, 1, s->K, s->x, s->order};
    int rank = linear_eliminate(&system);
    for (int k = 0; k < n; k++) {
        a[s->order[k]] = k < rank ? s->x[k] * s->scale[s->order[k]] : 0;
    }
    return rank;
}

void dense_find_forces(const dense_problem *p, const double *a, double *forces) {
    for (int i = 0; i < p->n; i++) {
        forces[i] = row_product(p, i, a) - p->f[i];
    }
}

int dense_embed(const dense_problem *p, dense_scratch *s, double *g, double *G) {
    int rank = solve_rows_alone(p, s, g), free_count = p->n - rank;
    for (int k = 0; k < p->n; k++) {
        for (int z = 0; z < free_count; z++) {
            G[s->order[k] * free_count + z] = null_space(p, s, rank, k, z);
        }
    }
    return rank;
}

int dense_solve_by_elimination(const dense_problem *p, dense_scratch *s, double *a) {
    int n = p->n, rank = solve_rows_alone(p, s, a), free_count = n - rank;
    /* x receives M Z, one column at a time; y = Z' (f - M a_p). */
    for (int z = 0; z < free_count; z++) {
        double *column = s->x;
        for (int k = 0; k < n; k++) {
            s->y[s->order[k]] = null_space(p, s, rank, k, z);
        }
        for (int i = 0; i < n; i++) {
            column[i] = row_product(p, i, s->y);
        }
        for (int y = 0; y < free_count; y++) {
            double entry = 0;
            for (int k = 0; k < n; k++) {
                entry += null_space(p, s, rank, k, y) * column[s->order[k]];
            }
            s->reduced[y * n + z] = entry;
        }
    }
    for (int i = 0; i < n; i++) {
        s->x[i] = p->f[i] - row_product(p, i, a);
    }
    for (int z = 0; z < free_count; z++) {
        s->y[z] = 0;
        for (int k = 0; k < n; k++) {
            s->y[z] += null_space(p, s, rank, k, z) * s->x[s->order[k]];
        }
    }
    if (linear_factorize(free_count, n, s->reduced)) {
        linear_apply(free_count, n, s->reduced, 1, s->y);
    } else {
        s->y[0] = NAN;
    }
    for (int k = 0; k < n; k++) {
        for (int z = 0; z < free_count; z++) {
            a[s->order[k]] += null_space(p, s, rank, k, z) * s->y[z];
        }
    }
    return rank;
}
