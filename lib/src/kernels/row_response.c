/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Response of rows A to their multipliers: the accelerations M^-1 A' of unit multipliers, and A M^-1 A'.
 *
 * The articulated-body algorithm factorizes M^-1 = L^-1 D^-1 L^-T. With s = L^-T A', one column for each row,
 *
 *     A M^-1 A' = s' D^-1 s        M^-1 A' = L^-1 D^-1 s
 *
 * A row of a frame exerts a unit force F on the frame's body, a row of coordinate j a unit force tau_j, and a row of a
 * closure opposite forces on the bodies of its two sides. These forces propagate towards the root, and the motion of
 * each joint on the way reduces them:
 *
 *     s_k = tau_k + S_k' F        F becomes F - U_k D_k^-1 s_k, then X* F in the parent
 *
 * Where the paths of two terms of a group meet, their forces add up. An entry of s' D^-1 s sums over the coordinates
 * that support both rows. M^-1 A' results from the outward pass of the articulated-body algorithm, with s in the place
 * of u. A joint with several axes is treated one axis after the other, as in aba.c. For models with coupled mimic
 * joints M^-1 A' results from the factors of M. A diagonal that is added to M is added to D.
 *
 * Without coupled mimic joints, a call with is_response_only leaves s in the place of M^-1 A'. A second call, with the
 * same memory and with rows but no groups, replaces combinations s w of its columns by M^-1 A' w.
 *
 * Source: Rodriguez, Jain and Kreutz-Delgado 1992; Wensing, Featherstone and Orin 2012.
 */
#include "closure.h"
#include "row_paths.h"

/* U and D of one axis. */
typedef struct axis_factors {
    force U;
    real inverse_D;
} axis_factors;

/* Factors of the tree, and what is computed from them. */
typedef struct response_tree {
    const real *q;
    const placement *X; /* of every body in its parent */
    int *moved_body;    /* by each coordinate */
    articulated_inertia *I;
    motion *a;          /* of every body for GROUP_ROWS rows */
    axis_factors *axes; /* of every coordinate */
    const row_set *rows;
    real *s;        /* nv x m; M^-1 A' replaces it */
    real *response; /* m x m */
} response_tree;

size_t KERNEL(row_response_memory)(const dyn_model *model) {
    size_t bodies = (size_t)model->body_count, nv = (size_t)model->nv;
    size_t tree = KERNEL(placements_memory)(model) +
                  bodies * (sizeof(articulated_inertia) + GROUP_ROWS * sizeof(motion)) +
                  nv * (sizeof(axis_factors) + sizeof(int));
    size_t factors = nv * nv * sizeof(real) + nv * sizeof(real) + KERNEL(crba_memory)(model);
    return model->has_coupling ? factors : tree;
}

/* ---- Factors and forces ------------------------------------------------------------------------------------------ */

/* Computes U and D of every axis. `diagonal` may be NULL. */
static void articulate(const dyn_model *model, const response_tree *t, const real *diagonal, real *pivots) {
    articulated_inertia *I = t->I;
    for (int i = 0; i < model->body_count; i++) {
        I[i] = articulated_from_rigid(body_inertia(&model->bodies[i]));
    }
    for (int i = model->body_count - 1; i >= 0; i--) {
        const body *b = &model->bodies[i];
        for (int k = b->nv - 1; k >= 0; k--) {
            axis_factors *axis = &t->axes[b->v_index + k];
            axis->U = articulated_apply(I[i], joint_column(b, b->motion, k));
            real D = joint_force(b, b->motion, k, axis->U);
            if (diagonal) {
                D = D + diagonal[b->v_index + k];
            }
            pivots[b->v_index + k] = D;
            axis->inverse_D = real_set(1) / D;
            I[i] = articulated_downdate(I[i], axis->U, force_scale(axis->inverse_D, axis->U));
        }
        if (b->parent >= 0) {
            I[b->parent] = articulated_add(I[b->parent], articulated_to_parent(t->X[i], I[i]));
        }
    }
}

/* Computes the forces of a frame's rows in its body. */
static void frame_forces(const dyn_model *model, const placement *X, const row_term *t, force *F) {
    const body_frame *frame = &model->frames[t->index];
    placement in_body = placement_constant(frame->pose.rotation, frame->pose.position);
    placement in_world =
        t->reference_frame == DYN_REFERENCE_FRAME_LOCAL ? in_body : frame_in_world(model, X, frame->body, in_body);
    for (int row = 0; row < 6; row++) {
        if (t->rows >> row & 1) {
            real e[6];
            for (int i = 0; i < 6; i++) {
                e[i] = real_set(i == row ? t->factor : 0);
            }
            force unit = force_set(vec3_set(e[0], e[1], e[2]), vec3_set(e[3], e[4], e[5]));
            *F++ = frame_wrench_in_body(in_body, in_world, t->reference_frame, unit);
        }
    }
}

/* Computes the forces of a closure's rows in the body of one side. */
static void closure_forces(const dyn_model *model, const placement *X, const row_term *t, force *F) {
    const closure *c = &model->closures[t->index];
    closure_side P = side_of_closure(model, c, 0), S = side_of_closure(model, c, 1), own = t->factor > 0 ? S : P;
    placement P_in_world = frame_in_world(model, X, P.body, P.in_body);
    placement S_in_world = frame_in_world(model, X, S.body, S.in_body);
    closure_wrenches(c, P_in_world, S_in_world, F);
    for (int r = 0; r < c->count; r++) {
        force unit = force_scale(real_set(t->factor), F[r]);
        F[r] =
            frame_wrench_in_body(own.in_body, t->factor > 0 ? S_in_world : P_in_world, DYN_REFERENCE_FRAME_WORLD, unit);
    }
}

/* Computes the forces of a term: those on its body, and that along its coordinate, which goes to s. */
static void term_forces(const dyn_model *model, const response_tree *t, const row_term *term, int count, int first_row,
                        force *F) {
    if (term->source == ROWS_OF_FRAME) {
        frame_forces(model, t->X, term, F);
        return;
    }
    if (term->source == ROWS_OF_CLOSURE) {
        closure_forces(model, t->X, term, F);
        return;
    }
    for (int r = 0; r < count; r++) {
        F[r] = force_zero();
    }
    if (term->source == ROW_OF_POLYNOMIAL) {
        const closure *c = &model->closures[term->index];
        real *s = &t->s[c->v_index[1] * t->rows->m + first_row];
        *s = real_fma(real_set(term->factor), polynomial_slope(c, t->q[c->q_index[1]]), *s);
        return;
    }
    real *s = &t->s[term->index * t->rows->m + first_row];
    *s = *s + real_set(term->factor);
}

/* Propagates the forces of a group past the axes of body i, and to its parent. */
static void pass_body(const dyn_model *model, const response_tree *t, int i, int count, int first_row, force *F) {
    const body *b = &model->bodies[i];
    int m = t->rows->m;
    for (int k = b->nv - 1; k >= 0; k--) {
        const axis_factors *axis = &t->axes[b->v_index + k];
        real *row = t->s + (b->v_index + k) * m + first_row;
        for (int r = 0; r < count; r++) {
            real s = row[r] + joint_force(b, b->motion, k, F[r]);
            row[r] = s;
            F[r] = force_fma(-s * axis->inverse_D, axis->U, F[r]);
        }
    }
    for (int r = 0; r < count; r++) {
        F[r] = force_to_parent(t->X[i], F[r]);
    }
}

/* Computes the columns of s from first_row on, for one group. */
static void propagate_forces(const dyn_model *model, const response_tree *t, const row_group *group, int first_row) {
    force forces[GROUP_FORCES], *F[ROW_TERMS];
    row_paths paths = paths_of(model, t->moved_body, group);
    for (int k = 0; k < group->term_count; k++) {
        F[k] = forces + k * group->count;
        if (paths.at[k] >= 0) {
            term_forces(model, t, &group->terms[k], group->count, first_row, F[k]);
        }
    }
    while (lone_path(&paths) < 0) {
        int i = outermost(&paths), leader = 0;
        while (paths.at[leader] != i) {
            leader++;
        }
        for (int k = leader + 1; k < group->term_count; k++) {
            for (int r = 0; r < group->count && paths.at[k] == i; r++) {
                F[leader][r] = force_add(F[leader][r], F[k][r]);
            }
        }
        pass_body(model, t, i, group->count, first_row, F[leader]);
        leave(model, i, &paths);
    }
    int lone = lone_path(&paths);
    for (int i = paths.at[lone]; i >= 0; i = model->bodies[i].parent) {
        pass_body(model, t, i, group->count, first_row, F[lone]);
    }
}

/* ---- Products ---------------------------------------------------------------------------------------------------- */

/* Adds the terms of the axes of body b to the block of two groups of rows. The body must support both groups. */
KERNEL_STEP void add_products(const body *b, const response_tree *t, int row_e, int count_e, int row_f, int count_f) {
    int m = t->rows->m;
    real *response = t->response;
    for (int k = b->v_index; k < b->v_index + b->nv; k++) {
        const real *s = t->s + k * m, inverse_D = t->axes[k].inverse_D;
        for (int r = row_e; r < row_e + count_e; r++) {
            real scaled = s[r] * inverse_D;
            for (int c = row_f; c < row_f + count_f && c <= r; c++) {
                response[r * m + c] = real_fma(scaled, s[c], response[r * m + c]);
            }
        }
    }
}

/* Computes the block s_e' D^-1 s_f of two groups from the bodies that support both. */
static void sum_block(const dyn_model *model, const response_tree *t, const row_group *e, const row_group *f, int row_e,
                      int row_f) {
    row_paths above_e = paths_of(model, t->moved_body, e), above_f = paths_of(model, t->moved_body, f);
    int i = outermost(&above_e), j = outermost(&above_f);
    while (i != j || lone_path(&above_e) < 0 || lone_path(&above_f) < 0) {
        if (i == j) {
            add_products(&model->bodies[i], t, row_e, e->count, row_f, f->count);
        }
        int last = i > j ? i : j;
        leave(model, last, &above_e);
        leave(model, last, &above_f);
        i = outermost(&above_e), j = outermost(&above_f);
    }
    for (; i >= 0; i = model->bodies[i].parent) {
        add_products(&model->bodies[i], t, row_e, e->count, row_f, f->count);
    }
}

/* Replaces columns `row` to row + count - 1 of s, at most GROUP_ROWS of them, by those of M^-1 A'. */
static void accelerate(const dyn_model *model, const response_tree *t, int row, int count) {
    for (int i = 0; i < model->body_count; i++) {
        const body *b = &model->bodies[i];
        real *s = &t->s[b->v_index * t->rows->m + row];
        for (int r = 0; r < count; r++) {
            motion x = b->parent < 0 ? motion_zero() : motion_to_child(t->X[i], t->a[b->parent * GROUP_ROWS + r]);
            for (int k = 0; k < b->nv; k++) {
                const axis_factors *axis = &t->axes[b->v_index + k];
                real *a = &s[k * t->rows->m + r];
                *a = axis->inverse_D * (*a - spatial_dot(x, axis->U));
                x = motion_fma(*a, joint_column(b, b->motion, k), x);
            }
            t->a[i * GROUP_ROWS + r] = x;
        }
    }
}

/* ---- Entry point ------------------------------------------------------------------------------------------------- */

/* Lays out the factors of the tree behind its placements. */
static response_tree lay_out(const dyn_model *model, void *memory, const row_set *rows, const row_results *results) {
    response_tree t;
    t.q = NULL;
    t.X = (const placement *)memory;
    t.I = (articulated_inertia *)((char *)memory + KERNEL(placements_memory)(model));
    t.a = (motion *)(t.I + model->body_count);
    t.axes = (axis_factors *)(t.a + model->body_count * GROUP_ROWS);
    t.moved_body = (int *)(t.axes + model->nv);
    t.rows = rows;
    t.s = (real *)results->accelerations;
    t.response = (real *)results->response;
    return t;
}

/* Replaces all columns of s by those of M^-1 A'. */
static void accelerate_all(const dyn_model *model, const response_tree *t) {
    int m = t->rows->m;
    for (int row = 0; row < m; row += GROUP_ROWS) {
        accelerate(model, t, row, m - row < GROUP_ROWS ? m - row : GROUP_ROWS);
    }
}

/* Computes the lower triangle of the response, and M^-1 A' unless is_response_only is true, by the articulated-body
 * factors. */
static void respond_by_bodies(const dyn_model *model, void *memory, const void *q, const real *diagonal,
                              const row_set *rows, real *pivots, const row_results *results) {
    response_tree t = lay_out(model, memory, rows, results);
    t.q = (const real *)q;
    KERNEL(placements)(model, t.q, &memory);
    find_moved_bodies(model, t.moved_body);
    articulate(model, &t, diagonal, pivots);
    int row_e = 0;
    for (size_t e = 0; e < rows->group_count; e++) {
        const row_group *group = &rows->groups[e];
        propagate_forces(model, &t, group, row_e);
        int row_f = 0;
        for (size_t f = 0; f <= e; f++) {
            sum_block(model, &t, group, &rows->groups[f], row_e, row_f);
            row_f += rows->groups[f].count;
        }
        row_e += group->count;
    }
    if (!results->is_response_only) {
        accelerate_all(model, &t);
    }
}

/* Computes the lower triangle of the response, and M^-1 A', by the factors of M. */
static void respond_by_coordinates(const dyn_model *model, void *memory, const void *q, const real *diagonal,
                                   const row_set *rows, real *pivots, const row_results *results) {
    int nv = model->nv, m = rows->m, *parent;
    const real *A = (const real *)rows->A;
    real *M = (real *)memory, *T = (real *)results->accelerations, *response = (real *)results->response;
    parent = (int *)(M + nv * nv);
    KERNEL(crba)(model, M + nv * nv + nv, q, M);
    for (int i = 0; diagonal && i < nv; i++) {
        M[i * nv + i] = M[i * nv + i] + diagonal[i];
    }
    KERNEL(coordinate_parents)(model, parent);
    KERNEL(factorize)(nv, parent, M);
    for (int i = 0; i < nv; i++) {
        pivots[i] = M[i * nv + i];
        for (int r = 0; r < m; r++) {
            T[i * m + r] = A[r * nv + i];
        }
    }
    KERNEL(solve)(nv, parent, M, real_set(1), m, T);
    for (int r = 0; r < m; r++) {
        for (int c = 0; c <= r; c++) {
            for (int i = 0; i < nv; i++) {
                response[r * m + c] = real_fma(A[r * nv + i], T[i * m + c], response[r * m + c]);
            }
        }
    }
}

void KERNEL(row_response)(const dyn_model *model, void *memory, const void *q, const void *diagonal,
                          const row_set *rows, void *pivots, const row_results *results) {
    int m = rows->m;
    real *T = (real *)results->accelerations, *response = (real *)results->response;
    if (m > 0 && rows->group_count == 0) {
        const response_tree t = lay_out(model, memory, rows, results);
        accelerate_all(model, &t);
        return;
    }
    for (int i = 0; i < m * model->nv; i++) {
        T[i] = real_set(0);
    }
    for (int i = 0; i < m * m; i++) {
        response[i] = real_set(0);
    }
    if (model->has_coupling) {
        respond_by_coordinates(model, memory, q, (const real *)diagonal, rows, (real *)pivots, results);
    } else {
        respond_by_bodies(model, memory, q, (const real *)diagonal, rows, (real *)pivots, results);
    }
    for (int r = 1; r < m; r++) {
        for (int c = 0; c < r; c++) {
            response[c * m + r] = response[r * m + c];
        }
    }
}
