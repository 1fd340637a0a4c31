/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Computes the operational-space dynamics of the rows J of a task.
 *
 * J M^-1 J' and M^-1 J' are the response of the rows (row_response.c). Lambda is the inverse of J M^-1 J', from its own
 * factors L' D L. D relative to the diagonal measures how independent a row is of the rows after it.
 *
 * Source: Khatib 1987; Rodriguez, Jain and Kreutz-Delgado 1992.
 */
#include "instance.h"

/* Intermediate results of a task of m rows. */
typedef struct task_work {
    int m, nv;
    row_group groups[DYN_TASK_FRAMES]; /* the rows of each frame */
    real *J, *T;                       /* m x nv; M^-1 J', nv x m */
    real *Omega, *Lambda;              /* m x m */
    real *h, *g, *zero;                /* nv */
    real *drift, *line;                /* m: dJ/dt v, and scratch memory */
    int *parent;
    void *rest; /* memory of the algorithms that are called */
} task_work;

static size_t larger(size_t a, size_t b) {
    return a > b ? a : b;
}

size_t KERNEL(operational_space_memory)(const dyn_model *model) {
    size_t nv = (size_t)model->nv, rows = DYN_TASK_ROWS;
    size_t own = 2 * rows * nv + 2 * rows * rows + 3 * nv + 2 * rows + rows;
    size_t rest = larger(KERNEL(row_jacobian_memory)(model), KERNEL(row_response_memory)(model));
    rest = larger(rest, larger(KERNEL(rnea_memory)(model), KERNEL(gravity_memory)(model)));
    return own * sizeof(real) + rest;
}

/* Makes one group of rows of each frame of the task. Returns the number of rows. */
static int group_rows(const dyn_task *task, row_group *groups) {
    int m = 0;
    for (size_t f = 0; f < task->count; f++) {
        const dyn_task_frame *frame = &task->frames[f];
        row_term term = {ROWS_OF_FRAME, frame->frame, frame->reference_frame, frame->rows, 1};
        groups[f].count = __builtin_popcount(frame->rows);
        groups[f].term_count = 1;
        groups[f].terms[0] = term;
        m += groups[f].count;
    }
    return m;
}

static void lay_out(const dyn_model *model, void *memory, const dyn_task *task, task_work *w) {
    int m = group_rows(task, w->groups), nv = model->nv;
    w->m = m;
    w->nv = nv;
    w->J = (real *)memory;
    w->T = w->J + m * nv;
    w->Omega = w->T + m * nv;
    w->Lambda = w->Omega + m * m;
    w->h = w->Lambda + m * m;
    w->g = w->h + nv;
    w->zero = w->g + nv;
    w->drift = w->zero + nv;
    w->line = w->drift + m;
    real *parent = w->line + m;
    w->parent = (int *)parent;
    w->rest = parent + m;
    for (int i = 0; i < nv; i++) {
        w->zero[i] = real_set(0);
    }
}

/* Computes Lambda from Omega, and for each row the share of the diagonal entry of Omega that is left as pivot. */
static void invert_rows(task_work *w, real *shares) {
    int m = w->m;
    for (int i = 0; i < m * m; i++) {
        w->Lambda[i] = w->Omega[i];
    }
    for (int i = 0; i < m; i++) {
        w->parent[i] = i - 1;
    }
    KERNEL(factorize)(m, w->parent, w->Lambda);
    for (int i = 0; i < m; i++) {
        shares[i] = w->Lambda[i * m + i] / w->Omega[i * m + i];
    }
    KERNEL(invert)(m, w->parent, w->Lambda);
}

/* Computes out = Lambda (T' x - drift); drift may be NULL. */
static void task_force(const task_work *w, const real *x, const real *drift, real *out) {
    int m = w->m;
    real *b = w->line;
    for (int r = 0; r < m; r++) {
        b[r] = drift ? -drift[r] : real_set(0);
        for (int i = 0; i < w->nv; i++) {
            b[r] = real_fma(w->T[i * m + r], x[i], b[r]);
        }
    }
    for (int r = 0; r < m; r++) {
        out[r] = real_set(0);
        for (int c = 0; c < m; c++) {
            out[r] = real_fma(w->Lambda[r * m + c], b[c], out[r]);
        }
    }
}

/* Computes the product of A, rows x inner, and B, inner x columns. */
static void multiply(int rows, int inner, int columns, const real *A, const real *B, real *out) {
    for (int i = 0; i < rows * columns; i++) {
        out[i] = real_set(0);
    }
    for (int i = 0; i < rows; i++) {
        for (int k = 0; k < inner; k++) {
            for (int c = 0; c < columns; c++) {
                out[i * columns + c] = real_fma(A[i * inner + k], B[k * columns + c], out[i * columns + c]);
            }
        }
    }
}

/* Replaces T by the inverse T Lambda = Jbar. Copies Jbar and computes the projector 1 - Jbar J, unless the argument is
 * NULL. */
static void project(task_work *w, real *inverse, real *projector) {
    int m = w->m, nv = w->nv;
    for (int i = 0; i < nv; i++) {
        multiply(1, m, m, w->T + i * m, w->Lambda, w->line);
        for (int r = 0; r < m; r++) {
            w->T[i * m + r] = w->line[r];
        }
    }
    for (int i = 0; i < nv * m && inverse; i++) {
        inverse[i] = w->T[i];
    }
    if (projector) {
        multiply(nv, m, nv, w->T, w->J, projector);
        for (int i = 0; i < nv * nv; i++) {
            projector[i] = real_set(i / nv == i % nv ? 1 : 0) - projector[i];
        }
    }
}

static void copy(int count, const real *from, void *to) {
    for (int i = 0; i < count && to; i++) {
        ((real *)to)[i] = from[i];
    }
}

void KERNEL(operational_space)(const dyn_model *model, void *memory, const packed_inputs *in, const dyn_task *task,
                               void *pivots, void *shares, const task_results *results) {
    static const double none[3] = {0, 0, 0};
    const void *q = in->q, *v = in->v;
    task_work w;
    lay_out(model, memory, task, &w);
    int m = w.m;
    bool needs_T = results->bias || results->gravity || results->inverse || results->projector;
    row_set rows = {m, task->count, w.groups, w.J};
    row_results response = {w.Omega, w.T, !needs_T};
    if (results->bias || results->projector || model->has_coupling) {
        KERNEL(row_jacobian)(model, w.rest, q, results->bias ? v : NULL, &rows, w.J, w.drift);
    }
    KERNEL(row_response)(model, w.rest, q, NULL, &rows, pivots, &response);
    copy(m * m, w.Omega, results->inverse_inertia);
    if (!needs_T && !results->inertia) {
        return;
    }
    invert_rows(&w, (real *)shares);
    copy(m * m, w.Lambda, results->inertia);
    if (results->bias) {
        const packed_inputs weightless = {none, q, v, w.zero, NULL};
        KERNEL(rnea)(model, w.rest, &weightless, w.h);
        task_force(&w, w.h, w.drift, (real *)results->bias);
    }
    if (results->gravity) {
        KERNEL(gravity)(model, w.rest, in->gravity, q, w.g);
        task_force(&w, w.g, NULL, (real *)results->gravity);
    }
    if (results->inverse || results->projector) {
        project(&w, (real *)results->inverse, (real *)results->projector);
    }
}
