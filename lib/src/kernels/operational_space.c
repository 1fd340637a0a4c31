/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Operational-space dynamics of the rows J of a task.
 *
 * The articulated-body algorithm factorizes M^-1 = L^-1 D^-1 L^-T. With s = L^-T J', one column for each row of the
 * task,
 *
 *     J M^-1 J' = s' D^-1 s        M^-1 J' = L^-1 D^-1 s
 *
 * s comes of unit forces F at the frames that go inward as far as the articulated joints let them:
 *
 *     s_k = S_k' F        F becomes F - U_k D_k^-1 s_k, then X* F in the parent
 *
 * and M^-1 J' of the outward pass of the articulated-body algorithm, s in the place of u. A joint with several axes is
 * taken one axis after the other, as in aba.c. Coupled mimic joints: M^-1 J' from the factors of M.
 *
 * Lambda is the inverse of J M^-1 J', from its own factors L' D L; D against the diagonal tells how independent a row
 * is of those behind it.
 *
 * Source: Rodriguez, Jain and Kreutz-Delgado 1992; Wensing, Featherstone and Orin 2012.
 */
#include "frame_wrench.h"

/* Data of one axis for the passes. */
typedef struct task_axis {
    force U;
    real inverse_D;
} task_axis;

/* Intermediate results of a task of m rows. */
typedef struct task_work {
    int m, nv;
    real *J, *T;          /* m x nv; M^-1 J', nv x m */
    real *Omega, *Lambda; /* m x m */
    real *h, *g, *zero;   /* nv */
    real *drift, *line;   /* m: dJ/dt v, and for what is on its way */
    real *motion;         /* of one frame: twist, rate, and a 6 x nv matrix */
    int *parent;
    void *rest; /* memory of the algorithms that are called */
} task_work;

static size_t larger(size_t a, size_t b) {
    return a > b ? a : b;
}

static size_t passes_memory(const dyn_model *model) {
    size_t bodies = (size_t)model->body_count, nv = (size_t)model->nv;
    return KERNEL(placements_memory)(model) + bodies * (sizeof(articulated_inertia) + sizeof(motion)) +
           nv * sizeof(task_axis) + (model->has_coupling ? nv * nv * sizeof(real) : 0);
}

size_t KERNEL(operational_space_memory)(const dyn_model *model) {
    size_t nv = (size_t)model->nv, rows = DYN_TASK_ROWS;
    size_t own = 2 * rows * nv + 2 * rows * rows + 3 * nv + 2 * rows + 12 + 6 * nv;
    size_t rest = larger(KERNEL(frame_memory)(model), KERNEL(frame_motion_memory)(model));
    rest = larger(rest, larger(KERNEL(rnea_memory)(model), KERNEL(gravity_memory)(model)));
    rest = larger(rest, KERNEL(crba_memory)(model) + nv * nv * sizeof(real) * (model->has_coupling ? 1 : 0));
    return (own + nv + rows) * sizeof(real) + larger(rest, passes_memory(model));
}

static task_work lay_out(const dyn_model *model, void *memory, const dyn_task *task) {
    task_work w;
    w.m = 0;
    w.nv = model->nv;
    for (size_t f = 0; f < task->count; f++) {
        w.m += __builtin_popcount(task->frames[f].rows);
    }
    w.J = (real *)memory;
    w.T = w.J + w.m * w.nv;
    w.Omega = w.T + w.m * w.nv;
    w.Lambda = w.Omega + w.m * w.m;
    w.h = w.Lambda + w.m * w.m;
    w.g = w.h + w.nv;
    w.zero = w.g + w.nv;
    w.drift = w.zero + w.nv;
    w.line = w.drift + w.m;
    w.motion = w.line + w.m;
    real *parent = w.motion + 12 + 6 * w.nv;
    w.parent = (int *)parent;
    w.rest = parent + w.nv + w.m;
    for (int i = 0; i < w.nv; i++) {
        w.zero[i] = real_set(0);
    }
    return w;
}

/* Body that carries a frame of the task; -1: the world. */
static int task_body(const dyn_model *model, const dyn_task_frame *f) {
    return f->frame < 0 ? -1 : model->frames[f->frame].body;
}

/* Copies the frame's rows out of six with the given number of columns; returns the number of rows. */
static int take_rows(const dyn_task_frame *f, int columns, const real *six, real *out) {
    int count = 0;
    for (int row = 0; row < 6; row++) {
        if (f->rows >> row & 1) {
            for (int i = 0; i < columns; i++) {
                out[count * columns + i] = six[row * columns + i];
            }
            count++;
        }
    }
    return count;
}

/* J, and if v is given the drift dJ/dt v. */
static void find_rows(const dyn_model *model, const void *q, const void *v, const dyn_task *task, task_work *w) {
    real *V = w->motion, *rate = V + 6, *six = V + 12, *J = w->J, *drift = w->drift;
    for (int i = 0; i < 12 + 6 * w->nv; i++) {
        w->motion[i] = real_set(0);
    }
    for (size_t k = 0; k < task->count; k++) {
        const dyn_task_frame *f = &task->frames[k];
        bool moves = task_body(model, f) >= 0;
        if (moves) {
            KERNEL(frame_jacobian)(model, w->rest, q, f->frame, f->reference_frame, six);
        }
        int count = take_rows(f, w->nv, six, J);
        if (moves && v) {
            KERNEL(frame_motion)(model, w->rest, q, v, w->zero, f->frame, f->reference_frame, V, rate, six);
        }
        take_rows(f, 1, rate, drift);
        J += count * w->nv;
        drift += count;
        for (int i = 0; i < 12 + 6 * w->nv; i++) {
            w->motion[i] = real_set(0);
        }
    }
}

/* U and D of every axis. */
static void articulate(const dyn_model *model, const placement *X, articulated_inertia *I, task_axis *axes,
                       real *pivots) {
    for (int i = 0; i < model->body_count; i++) {
        I[i] = articulated_from_rigid(body_inertia(&model->bodies[i]));
    }
    for (int i = model->body_count - 1; i >= 0; i--) {
        const body *b = &model->bodies[i];
        for (int k = b->nv - 1; k >= 0; k--) {
            task_axis *axis = &axes[b->v_index + k];
            axis->U = articulated_apply(I[i], joint_column(b, b->motion, k));
            real D = joint_force(b, b->motion, k, axis->U);
            pivots[b->v_index + k] = D;
            axis->inverse_D = real_set(1) / D;
            I[i] = articulated_downdate(I[i], axis->U, force_scale(axis->inverse_D, axis->U));
        }
        if (b->parent >= 0) {
            I[b->parent] = articulated_add(I[b->parent], articulated_to_parent(X[i], I[i]));
        }
    }
}

/* The unit forces of a frame's rows, in its body; returns their number. */
static int unit_forces(const dyn_model *model, const placement *X, const dyn_task_frame *f, force F[6]) {
    const body_frame *frame = &model->frames[f->frame];
    placement in_body = placement_constant(frame->pose.rotation, frame->pose.position);
    placement in_world =
        f->reference_frame == DYN_REFERENCE_FRAME_LOCAL ? in_body : frame_in_world(model, X, frame->body, in_body);
    int count = 0;
    for (int row = 0; row < 6; row++) {
        if (f->rows >> row & 1) {
            real e[6];
            for (int i = 0; i < 6; i++) {
                e[i] = real_set(i == row ? 1 : 0);
            }
            force unit = force_set(vec3_set(e[0], e[1], e[2]), vec3_set(e[3], e[4], e[5]));
            F[count++] = frame_wrench_in_body(in_body, in_world, f->reference_frame, unit);
        }
    }
    return count;
}

/* Columns first_row .. of s, nv x m, for one frame. */
static void propagate_forces(const dyn_model *model, const placement *X, const task_axis *axes, const dyn_task_frame *f,
                             int first_row, int m, real *s) {
    force F[6];
    int count = unit_forces(model, X, f, F);
    for (int i = task_body(model, f); i >= 0; i = model->bodies[i].parent) {
        const body *b = &model->bodies[i];
        for (int k = b->nv - 1; k >= 0; k--) {
            const task_axis *axis = &axes[b->v_index + k];
            real *row = s + (b->v_index + k) * m + first_row;
            for (int r = 0; r < count; r++) {
                row[r] = joint_force(b, b->motion, k, F[r]);
                F[r] = force_fma(-row[r] * axis->inverse_D, axis->U, F[r]);
            }
        }
        for (int r = 0; r < count; r++) {
            F[r] = force_to_parent(X[i], F[r]);
        }
    }
}

/* The block s_e' D^-1 s_f of two frames' rows: the axes above both. */
static void sum_block(const dyn_model *model, const task_axis *axes, const dyn_task *task, size_t e, size_t f,
                      int row_e, int row_f, task_work *w) {
    int i = task_body(model, &task->frames[e]), j = task_body(model, &task->frames[f]), m = w->m;
    int count_e = __builtin_popcount(task->frames[e].rows), count_f = __builtin_popcount(task->frames[f].rows);
    while (i != j) {
        if (i > j) {
            i = model->bodies[i].parent;
        } else {
            j = model->bodies[j].parent;
        }
    }
    for (; i >= 0; i = model->bodies[i].parent) {
        const body *b = &model->bodies[i];
        for (int k = b->v_index; k < b->v_index + b->nv; k++) {
            for (int r = row_e; r < row_e + count_e; r++) {
                real scaled = w->T[k * m + r] * axes[k].inverse_D;
                for (int c = row_f; c < row_f + count_f && c <= r; c++) {
                    w->Omega[r * m + c] = real_fma(scaled, w->T[k * m + c], w->Omega[r * m + c]);
                }
            }
        }
    }
}

/* M^-1 J' in the place of column `row` of s. */
static void respond(const dyn_model *model, const placement *X, const task_axis *axes, int row, motion *a,
                    task_work *w) {
    for (int i = 0; i < model->body_count; i++) {
        const body *b = &model->bodies[i];
        motion x = b->parent < 0 ? motion_zero() : motion_to_child(X[i], a[b->parent]);
        for (int k = 0; k < b->nv; k++) {
            const task_axis *axis = &axes[b->v_index + k];
            real *s = &w->T[(b->v_index + k) * w->m + row];
            *s = axis->inverse_D * (*s - spatial_dot(x, axis->U));
            x = motion_fma(*s, joint_column(b, b->motion, k), x);
        }
        a[i] = x;
    }
}

/* Omega, lower triangle, and T if it is wanted, by the articulated-body factors. */
static void factor_by_bodies(const dyn_model *model, const void *q, const dyn_task *task, bool wants_T, real *pivots,
                             task_work *w) {
    void *rest = w->rest;
    placement *X = KERNEL(placements)(model, (const real *)q, &rest);
    articulated_inertia *I = (articulated_inertia *)rest;
    motion *a = (motion *)(I + model->body_count);
    task_axis *axes = (task_axis *)(a + model->body_count);
    articulate(model, X, I, axes, pivots);
    int row_e = 0;
    for (size_t e = 0; e < task->count; e++) {
        if (task_body(model, &task->frames[e]) >= 0) {
            propagate_forces(model, X, axes, &task->frames[e], row_e, w->m, w->T);
        }
        int row_f = 0;
        for (size_t f = 0; f <= e; f++) {
            sum_block(model, axes, task, e, f, row_e, row_f, w);
            row_f += __builtin_popcount(task->frames[f].rows);
        }
        row_e += __builtin_popcount(task->frames[e].rows);
    }
    for (int row = 0; row < w->m && wants_T; row++) {
        respond(model, X, axes, row, a, w);
    }
}

/* Factors the inverse inertia by the factors of M. */
static void factor_by_coordinates(const dyn_model *model, const void *q, real *pivots, task_work *w) {
    int nv = w->nv, m = w->m;
    real *M = (real *)w->rest;
    KERNEL(crba)(model, M + nv * nv, q, M);
    KERNEL(coordinate_parents)(model, w->parent);
    KERNEL(factorize)(nv, w->parent, M);
    for (int i = 0; i < nv; i++) {
        pivots[i] = M[i * nv + i];
        for (int r = 0; r < m; r++) {
            w->T[i * m + r] = w->J[r * nv + i];
        }
    }
    KERNEL(solve)(nv, w->parent, M, real_set(1), m, w->T);
    for (int r = 0; r < m; r++) {
        for (int c = 0; c <= r; c++) {
            for (int i = 0; i < nv; i++) {
                w->Omega[r * m + c] = real_fma(w->J[r * nv + i], w->T[i * m + c], w->Omega[r * m + c]);
            }
        }
    }
}

/* Lambda from Omega, and how much of each row of Omega its factors keep. */
static void invert_rows(task_work *w, real *kept) {
    int m = w->m;
    for (int i = 0; i < m * m; i++) {
        w->Lambda[i] = w->Omega[i];
    }
    for (int i = 0; i < m; i++) {
        w->parent[i] = i - 1;
    }
    KERNEL(factorize)(m, w->parent, w->Lambda);
    for (int i = 0; i < m; i++) {
        kept[i] = w->Lambda[i * m + i] / w->Omega[i * m + i];
    }
    KERNEL(invert)(m, w->parent, w->Lambda);
}

/* out = Lambda (T' x - drift); drift may be NULL. */
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

/* The rows x columns product of A and B, whose other side is `inner`. */
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

/* Jbar and 1 - Jbar J. T is lost. */
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

void KERNEL(operational_space)(const dyn_model *model, void *memory, const double gravity[3], const void *q,
                               const void *v, const dyn_task *task, void *pivots, void *kept,
                               const task_results *results) {
    static const double none[3] = {0, 0, 0};
    task_work w = lay_out(model, memory, task);
    int m = w.m, nv = w.nv;
    bool wants_T = results->bias || results->gravity || results->inverse || results->projector;
    for (int i = 0; i < m * nv; i++) {
        w.T[i] = real_set(0);
    }
    for (int i = 0; i < m * m; i++) {
        w.Omega[i] = real_set(0);
    }
    if (results->bias || results->projector || model->has_coupling) {
        find_rows(model, q, results->bias ? v : NULL, task, &w);
    }
    if (model->has_coupling) {
        factor_by_coordinates(model, q, (real *)pivots, &w);
    } else {
        factor_by_bodies(model, q, task, wants_T, (real *)pivots, &w);
    }
    for (int i = 0; i < m * m; i++) {
        w.Omega[i] = i % m > i / m ? w.Omega[i % m * m + i / m] : w.Omega[i];
    }
    copy(m * m, w.Omega, results->inverse_inertia);
    if (!wants_T && !results->inertia) {
        return;
    }
    invert_rows(&w, (real *)kept);
    copy(m * m, w.Lambda, results->inertia);
    if (results->bias) {
        KERNEL(rnea)(model, w.rest, none, q, v, w.zero, NULL, w.h);
        task_force(&w, w.h, w.drift, (real *)results->bias);
    }
    if (results->gravity) {
        KERNEL(gravity)(model, w.rest, gravity, q, w.g);
        task_force(&w, w.g, NULL, (real *)results->gravity);
    }
    if (results->inverse || results->projector) {
        project(&w, (real *)results->inverse, (real *)results->projector);
    }
}
