/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Composite-rigid-body algorithm (crba.c) of trees with a trunk (model/normal_form.h): M(q).
 *
 * In the trunk all quantities are expressed in the axes of its root at q. There X is the identity and S_j has six
 * components. A product with S_j costs less than a transform of F. Once all F are known, the entries on both sides of
 * the diagonal are products of columns. column_products.c computes them for several rows at once, so that a large
 * matrix is written once, in the order of memory.
 *
 * A body outside the trunk stores the entries of its row up to the diagonal, and the entries that mirror those with
 * other bodies outside the trunk. The rows of the trunk, with the rest of the mirror, follow when all F are known.
 */
#include "columns.h"
#include "crba_tree.h"

/* ---- placements -------------------------------------------------------------------------------------------------- */

/* Transforms the placements of the trunk and of its children, and the inertias of the trunk, to the root, and computes
 * the columns of the trunk. */
static void place_trunk(const dyn_model *model, const crba_tree *t) {
    for (int i = 0; i < model->body_count; i++) {
        const body *b = &model->bodies[i];
        if (!b->trunk && !b->is_trunk_child) {
            continue;
        }
        if (b->hinge) {
            t->X[i] = hinge_placement(hinge_at(b, t->turns, i));
        }
        if (b->trunk && b->parent < 0) {
            t->X[i] = placement_identity();
        } else if (b->is_trunk_child && model->bodies[b->parent].parent >= 0) {
            t->X[i] = placement_compose(t->X[b->parent], t->X[i]);
        }
        for (int k = 0; b->trunk && k < b->nv; k++) {
            motion_columns_set(t->S, b->v_index + k, placed_column(b, t->X[i], k));
        }
        if (b->trunk && b->is_trunk_child) {
            t->composite[i] = rigid_inertia_to_parent(t->X[i], t->composite[i]);
        }
    }
}

/* ---- bodies outside the trunk ------------------------------------------------------------------------------------ */

/* Clears the columns from `from` to `to` - 1 of a row. */
static inline void clear_entries(int from, int to, real *row) {
    for (int column = from; column < to; column++) {
        row[column] = real_set(0);
    }
}

/* Stores the entries of a row in `count` columns of body j, which is outside the trunk, and their mirror. Clears the
 * columns between these and column `filled`. Returns the first column that is filled now. */
KERNEL_STEP int store_entries_above(const dyn_model *model, int row, int j, int count, force F, int filled, real *M) {
    const body *p = &model->bodies[j];
    int nv = model->nv, first = p->v_index;
    clear_entries(first + count, filled, M + row * nv);
    if (p->hinge) {
        M[row * nv + first] = M[first * nv + row] = F.n.z;
        return first;
    }
    for (int l = 0; l < count; l++) {
        M[row * nv + first + l] = M[(first + l) * nv + row] = joint_force(p, p->motion, l, F);
    }
    return first;
}

/* Stores the entries of rows `row` to row + rows - 1, whose forces are known, in the columns of the trunk from body
 * j to the root, chain by chain. Clears the other columns before column `filled`. Returns what multiply_columns
 * returns. */
static int store_entries_of_trunk(const dyn_model *model, const crba_tree *t, int row, int rows, int j, int filled,
                                  real *M) {
    int nv = model->nv, finite = 1;
    while (j >= 0) {
        const body *end = &model->bodies[j], *first = &model->bodies[end->chain];
        int from = first->v_index, to = end->v_index + end->nv;
        to = to < filled ? to : filled;
        for (int k = row; k < row + rows; k++) {
            clear_entries(to, filled, M + k * nv);
        }
        finite &= multiply_columns(t->S, t->F, row, rows, from, to, nv, M);
        filled = from;
        j = first->parent;
    }
    for (int k = row; k < row + rows; k++) {
        clear_entries(0, filled, M + k * nv);
    }
    return finite;
}

/* Stores the row of body i, and its mirror, where all joints between the body and the world are hinges. */
static void store_hinge_row(const dyn_model *model, const crba_tree *t, int i, real *M) {
    const body *bodies = model->bodies;
    int nv = model->nv, row = bodies[i].v_index, filled = row, j = i;
    force F = hinge_column_force(t->composite[i]);
    M[row * nv + row] = F.n.z;
    while (bodies[j].parent >= 0) {
        if (bodies[j].is_trunk_child) {
            F = force_to_parent(t->X[j], F);
            motion_columns_set(t->F, row, motion_set(F.n, F.f));
            store_entries_of_trunk(model, t, row, 1, bodies[j].parent, filled, M);
            return;
        }
        F = hinge_force_to_parent(hinge_at(&bodies[j], t->turns, j), F, force_zero());
        j = bodies[j].parent;
        int column = bodies[j].v_index;
        clear_entries(column + 1, filled, M + row * nv);
        M[row * nv + column] = M[column * nv + row] = F.n.z;
        filled = column;
    }
    clear_entries(0, filled, M + row * nv);
}

/* Stores row k of a body outside the trunk below the diagonal. Entries of the trunk are not mirrored. */
static void store_below_diagonal(const dyn_model *model, const crba_tree *t, int i, int k, real *M) {
    const body *bodies = model->bodies;
    int row = bodies[i].v_index + k;
    force F = column_force(&bodies[i], t->composite[i], k);
    int filled = store_entries_above(model, row, i, k + 1, F, row + 1, M);
    for (int j = i; bodies[j].parent >= 0;) {
        F = column_force_to_parent(&bodies[j], t, j, F);
        j = bodies[j].parent;
        if (bodies[j].trunk) {
            motion_columns_set(t->F, row, motion_set(F.n, F.f));
            store_entries_of_trunk(model, t, row, 1, j, filled, M);
            return;
        }
        filled = store_entries_above(model, row, j, bodies[j].nv, F, filled, M);
    }
    clear_entries(0, filled, M + row * model->nv);
}

/* Stores the rows of body i, which is not part of the trunk, in a tree with a trunk. The last row comes first. */
static void store_rows(const dyn_model *model, const crba_tree *t, int i, real *M) {
    const body *b = &model->bodies[i];
    for (int k = b->nv - 1; k >= 0; k--) {
        if (b->on_hinges) {
            store_hinge_row(model, t, i, M);
        } else {
            store_below_diagonal(model, t, i, k, M);
        }
        clear_entries(end_of_subtree(b), model->nv, M + (b->v_index + k) * model->nv);
    }
}

/* ---- the trunk --------------------------------------------------------------------------------------------------- */

/* Stores the forces of body i of the trunk. */
static void store_forces(const dyn_model *model, const crba_tree *t, int i) {
    const body *b = &model->bodies[i];
    for (int k = 0; k < b->nv; k++) {
        force F = rigid_inertia_apply(t->composite[i], motion_columns_get(t->S, b->v_index + k));
        motion_columns_set(t->F, b->v_index + k, motion_set(F.n, F.f));
    }
}

/* Stores the rows of bodies i to `last` of the trunk, a chain whose subtrees have the same columns after its own: S' F
 * before the diagonal, and F' S, with the forces F of the subtree, after it. Returns what multiply_columns returns. */
static int store_trunk_rows(const dyn_model *model, const crba_tree *t, int i, int last, real *M) {
    const body *end = &model->bodies[last];
    int nv = model->nv, row = model->bodies[i].v_index, row_end = end->v_index + end->nv, to = end_of_subtree(end);
    int finite = store_entries_of_trunk(model, t, row, row_end - row, last, row_end, M);
    for (int k = row; k < row_end; k++) {
        for (int l = k + 1; l < row_end; l++) {
            M[k * nv + l] = M[l * nv + k];
        }
    }
    finite &= multiply_columns(t->F, t->S, row, row_end - row, row_end, to, nv, M);
    for (int k = row; k < row_end; k++) {
        clear_entries(to, nv, M + k * nv);
    }
    return finite;
}

/* Numbers of M that are finished together. With fewer, the processor stalls when it loads several numbers that have
 * just been stored one by one. With more, they leave the first-level cache. */
enum { FINISHED_TOGETHER = 2048 };

/* Returns the first of the bodies up to `last`, outside the trunk, whose rows are finished together. */
static int first_finished(const dyn_model *model, int last) {
    const body *bodies = model->bodies;
    int i = last, end = bodies[last].v_index + bodies[last].nv;
    while (i > 0 && !bodies[i - 1].trunk && (end - bodies[i].v_index) * model->nv < FINISHED_TOGETHER) {
        i--;
    }
    return i;
}

/* Returns the first of the bodies of the trunk up to `last` whose rows are multiplied together. */
static int first_multiplied(const dyn_model *model, int last) {
    const body *bodies = model->bodies;
    int i = last, end = bodies[last].v_index + bodies[last].nv;
    while (bodies[i].parent >= 0 && bodies[i].parent == i - 1 && end - bodies[i - 1].v_index <= PRODUCT_ROWS &&
           end_of_subtree(&bodies[i - 1]) == end_of_subtree(&bodies[last])) {
        i--;
    }
    return i;
}

/* Stores all rows of the trunk after those of the other bodies. Finishes the other rows if `in_row` is true. Returns
 * true if all of M is finished and finite. */
static int store_trunk(const dyn_model *model, const crba_tree *t, bool in_row, real *M) {
    const body *bodies = model->bodies;
    int finite = 1, nv = model->nv;
    for (int last = model->body_count - 1, i; last >= 0; last = i - 1) {
        if (bodies[last].trunk) {
            i = first_multiplied(model, last);
            finite &= store_trunk_rows(model, t, i, last, M);
        } else {
            i = first_finished(model, last);
            int rows = bodies[last].v_index + bodies[last].nv - bodies[i].v_index;
            finite &= !in_row || finish_entries(M + bodies[i].v_index * nv, (size_t)(rows * nv));
        }
    }
    return finite;
}

int KERNEL(crba_trunk)(const dyn_model *model, const crba_tree *t, bool in_row, real *M) {
    place_trunk(model, t);
    for (int i = model->body_count - 1; i >= 0; i--) {
        const body *b = &model->bodies[i];
        if (b->trunk) {
            store_forces(model, t, i);
        } else {
            store_rows(model, t, i, M);
        }
        if (b->parent >= 0) {
            rigid_inertia I = b->trunk ? t->composite[i] : composite_to_parent(b, t, i);
            t->composite[b->parent] = rigid_inertia_add(t->composite[b->parent], I);
        }
    }
    return store_trunk(model, t, in_row, M);
}
