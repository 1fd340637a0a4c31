/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Composite-rigid-body algorithm: M(q).
 *
 *     I_c = I + sum over children of X* I_c X
 *     F = I_c S_i                      M_ii = S_i' F
 *     F = X* F, towards the root       M_ij = M_ji = S_j' F
 *
 * In the trunk of a large tree (model/normal_form.h) all quantities are expressed in the axes of its root at q. There X
 * is the identity and S_j has six components. A product with S_j costs less than a transform of F. Once all F are
 * known, the entries on both sides of the diagonal are products of columns. column_products.c computes them for several
 * rows at once, so that a large matrix is written once, in the order of memory.
 *
 * A coupled mimic joint adds its columns, times its ratio, to those of its master.
 *
 * Sources: Walker and Orin 1982, method 3; Featherstone 2008, table 6.2.
 */
#include "columns.h"
#include "hinge.h"
#include "joint_placement.h"
#include "motion_columns.h"

typedef struct crba_tree {
    joint_turns turns;
    placement *X; /* in the parent, of bodies without a hinge; in the root, of the trunk and its children */
    rigid_inertia *composite;
    motion_columns S; /* of the trunk */
    motion_columns F; /* (n; f) of all coordinates of the trunk and its subtree, in the root */
} crba_tree;

size_t KERNEL(crba_memory)(const dyn_model *model) {
    return (size_t)model->body_count * (3 * sizeof(real) + sizeof(placement) + sizeof(rigid_inertia)) +
           2 * motion_columns_room((size_t)model->nv) * sizeof(real);
}

/* Computes placements, the columns of the trunk, and each body's own inertia. Returns true if there is a trunk. */
static bool place_bodies(const dyn_model *model, const crba_tree *t, const real *q) {
    bool trunk = false;
    for (int i = 0; i < model->body_count; i++) {
        const body *b = &model->bodies[i];
        t->composite[i] = body_inertia(b);
        trunk = trunk || b->trunk;
        if (b->hinge && !b->trunk && !b->on_trunk) {
            continue;
        }
        t->X[i] = b->hinge ? hinge_placement(hinge_at(b, t->turns, i))
                           : joint_placement(b, q + b->q_index, t->turns.sine[i], t->turns.cosine[i]);
        if (b->trunk && b->parent < 0) {
            t->X[i] = placement_identity();
        } else if (b->on_trunk && model->bodies[b->parent].parent >= 0) {
            t->X[i] = placement_compose(t->X[b->parent], t->X[i]);
        }
        for (int k = 0; b->trunk && k < b->nv; k++) {
            motion_columns_set(t->S, b->v_index + k, placed_column(b, t->X[i], k));
        }
        if (b->trunk && b->on_trunk) {
            t->composite[i] = rigid_inertia_to_parent(t->X[i], t->composite[i]);
        }
    }
    return trunk;
}

/* Returns F = I_c S of a hinge. */
KERNEL_STEP force hinge_column_force(rigid_inertia I) {
    return force_set(vec3_set(I.I.xz, I.I.yz, I.I.zz), vec3_set(-I.h.y, I.h.x, real_set(0)));
}

/* Returns F = I_c S_k of a body with a joint of any type. S_k includes the ratio of a mimic joint. */
static force column_force(const body *b, const crba_tree *t, int i, int k) {
    rigid_inertia I = t->composite[i];
    if (b->trunk) {
        return rigid_inertia_apply(I, motion_columns_get(t->S, b->v_index + k));
    }
    if (b->hinge) {
        return hinge_column_force(I);
    }
    motion S = joint_column(b, b->motion, k);
    return rigid_inertia_apply(I, motion_fma(rounded_set(constants_of(b)->ratio), S, motion_zero()));
}

/* Returns F of body j, transformed to its parent. */
KERNEL_STEP force carry_force(const body *b, const crba_tree *t, int j, force F) {
    return b->hinge && !b->on_trunk ? hinge_force_to_parent(hinge_at(b, t->turns, j), F, force_zero())
                                    : force_to_parent(t->X[j], F);
}

/* Stores x, or adds it to an entry that several joints share. */
KERNEL_STEP void put(bool shared, real *to, real x) {
    *to = shared ? *to + x : x;
}

/* Stores the entries of a row in the columns of its ancestor j, and their mirror. `shared`: several joints share a
 * coordinate, so that entries are sums. */
KERNEL_STEP void put_entries_above(const dyn_model *model, bool shared, int row, int j, force F, real *M) {
    const body *p = &model->bodies[j];
    int nv = model->nv;
    for (int l = 0; l < (p->hinge ? 1 : p->nv); l++) {
        real m = p->hinge ? F.n.z : rounded_set(constants_of(p)->ratio) * joint_force(p, p->motion, l, F);
        int column = p->v_index + l;
        put(shared, &M[row * nv + column], m);
        put(shared, &M[column * nv + row], m);
    }
}

/* Stores row v_index + k of M for coordinate k of body i, and the column that mirrors it. */
KERNEL_STEP void carry_column(const dyn_model *model, const crba_tree *t, bool shared, int i, int k, real *M) {
    const body *b = &model->bodies[i];
    force F = column_force(b, t, i, k);
    int nv = model->nv, row = b->v_index + k;
    for (int l = 0; l < b->nv; l++) {
        put(shared, &M[row * nv + b->v_index + l],
            rounded_set(constants_of(b)->ratio) * joint_force(b, b->motion, l, F));
    }
    for (int j = i; model->bodies[j].parent >= 0;) {
        F = carry_force(&model->bodies[j], t, j, F);
        j = model->bodies[j].parent;
        put_entries_above(model, shared, row, j, F, M);
    }
}

/* Clears the columns from `from` to `to` - 1 of a row. */
static inline void clear_entries(int from, int to, real *row) {
    for (int column = from; column < to; column++) {
        row[column] = real_set(0);
    }
}

/* Stores the entries of a row in `count` columns of body j, which is outside the trunk, and their mirror. Clears the
 * columns between these and column `filled`. Returns the first column that is filled now. */
KERNEL_STEP int put_entries(const dyn_model *model, int row, int j, int count, force F, int filled, real *M) {
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
static int put_trunk(const dyn_model *model, const crba_tree *t, int row, int rows, int j, int filled, real *M) {
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

/* Stores the row of a body outside the trunk, and the column that mirrors it, where all joints between the body and the
 * world are hinges. */
KERNEL_STEP void carry_hinge_column(const dyn_model *model, const crba_tree *t, bool trunk, int i, real *M) {
    const body *bodies = model->bodies;
    int nv = model->nv, row = bodies[i].v_index, filled = row, j = i;
    force F = hinge_column_force(t->composite[i]);
    M[row * nv + row] = F.n.z;
    while (bodies[j].parent >= 0) {
        if (trunk && bodies[j].on_trunk) {
            F = force_to_parent(t->X[j], F);
            motion_columns_set(t->F, row, motion_set(F.n, F.f));
            put_trunk(model, t, row, 1, bodies[j].parent, filled, M);
            return;
        }
        F = hinge_force_to_parent(hinge_at(&bodies[j], t->turns, j), F, force_zero());
        j = bodies[j].parent;
        int column = bodies[j].v_index;
        if (trunk) {
            clear_entries(column + 1, filled, M + row * nv);
        }
        M[row * nv + column] = M[column * nv + row] = F.n.z;
        filled = column;
    }
    if (trunk) {
        clear_entries(0, filled, M + row * nv);
    }
}

/* Stores row k of a body outside the trunk below the diagonal. Entries of the trunk are not mirrored. */
static void put_below_diagonal(const dyn_model *model, const crba_tree *t, int i, int k, real *M) {
    const body *bodies = model->bodies;
    int row = bodies[i].v_index + k;
    force F = column_force(&bodies[i], t, i, k);
    int filled = put_entries(model, row, i, k + 1, F, row + 1, M);
    for (int j = i; bodies[j].parent >= 0;) {
        F = carry_force(&bodies[j], t, j, F);
        j = bodies[j].parent;
        if (bodies[j].trunk) {
            motion_columns_set(t->F, row, motion_set(F.n, F.f));
            put_trunk(model, t, row, 1, j, filled, M);
            return;
        }
        filled = put_entries(model, row, j, bodies[j].nv, F, filled, M);
    }
    clear_entries(0, filled, M + row * model->nv);
}

/* Returns the column after those of the subtree of a body. */
static inline int end_of_subtree(const body *b) {
    return b->v_index + b->nv + b->columns_behind;
}

/* Stores the rows of bodies i to `last` of the trunk, a chain whose subtrees have the same columns after its own: S' F
 * before the diagonal, and F' S, with the forces F of the subtree, after it. Returns what multiply_columns returns. */
static int put_trunk_rows(const dyn_model *model, const crba_tree *t, int i, int last, real *M) {
    const body *end = &model->bodies[last];
    int nv = model->nv, row = model->bodies[i].v_index, behind = end->v_index + end->nv, to = end_of_subtree(end);
    int finite = put_trunk(model, t, row, behind - row, last, behind, M);
    for (int k = row; k < behind; k++) {
        for (int l = k + 1; l < behind; l++) {
            M[k * nv + l] = M[l * nv + k];
        }
    }
    finite &= multiply_columns(t->F, t->S, row, behind - row, behind, to, nv, M);
    for (int k = row; k < behind; k++) {
        clear_entries(to, nv, M + k * nv);
    }
    return finite;
}

/* Returns the composite inertia of body i in the parent's frame. */
KERNEL_STEP rigid_inertia carried_inertia(const body *b, const crba_tree *t, int i) {
    if (b->trunk) {
        return t->composite[i];
    }
    return b->hinge && !b->on_trunk ? hinge_inertia_to_parent(hinge_at(b, t->turns, i), t->composite[i])
                                    : rigid_inertia_to_parent(t->X[i], t->composite[i]);
}

/* Returns true if all of M is cleared first: where entries are sums, and where M is small. */
static inline bool clears_all(const dyn_model *model) {
    return DYN_LANES == 1 || model->has_coupling;
}

/* Clears the entries of body i with the bodies of later branches. */
static void clear_branches(const dyn_model *model, int i, real *M) {
    const body *b = &model->bodies[i];
    int nv = model->nv;
    for (int row = b->v_index; row < b->v_index + b->nv; row++) {
        for (int column = end_of_subtree(b); column < nv; column++) {
            M[row * nv + column] = M[column * nv + row] = real_set(0);
        }
    }
}

/* Stores all rows of body i in a tree without a trunk. */
static void put_columns(const dyn_model *model, const crba_tree *t, int i, real *M) {
    const body *b = &model->bodies[i];
    if (!clears_all(model)) {
        clear_branches(model, i, M);
    }
    if (b->on_hinges) {
        carry_hinge_column(model, t, false, i, M);
        return;
    }
    for (int k = 0; k < b->nv; k++) {
        if (model->has_coupling) {
            carry_column(model, t, true, i, k, M);
        } else {
            carry_column(model, t, false, i, k, M);
        }
    }
}

/* Stores the rows of body i, which is not part of the trunk, in a tree with a trunk. The last row comes first. */
static void put_rows(const dyn_model *model, const crba_tree *t, int i, real *M) {
    const body *b = &model->bodies[i];
    for (int k = b->nv - 1; k >= 0; k--) {
        if (b->on_hinges) {
            carry_hinge_column(model, t, true, i, M);
        } else {
            put_below_diagonal(model, t, i, k, M);
        }
        clear_entries(end_of_subtree(b), model->nv, M + (b->v_index + k) * model->nv);
    }
}

/* Stores the forces of body i of the trunk. */
static void put_forces(const dyn_model *model, const crba_tree *t, int i) {
    const body *b = &model->bodies[i];
    for (int k = 0; k < b->nv; k++) {
        force F = column_force(b, t, i, k);
        motion_columns_set(t->F, b->v_index + k, motion_set(F.n, F.f));
    }
}

/* Finishes `count` numbers of M in the rows of the caller, as unpack does. Returns true if they are finite. Other
 * instances leave this to unpack. */
static inline int give(real *rows, size_t count) {
#if DYN_LANES == 1 && !defined DYN_FLOAT && !defined DYN_REAL_HEADER
    return KERNEL(unpack)(rows, count, 1, rows);
#else
    (void)rows, (void)count;
    return 1;
#endif
}

/* Numbers of M that are finished together. With fewer, the processor stalls when it loads several numbers that have
 * just been stored one by one. With more, they leave the first-level cache. */
enum { GIVEN_TOGETHER = 2048 };

/* Returns the first of the bodies up to `last`, outside the trunk, whose rows are finished together. */
static int first_given(const dyn_model *model, int last) {
    const body *bodies = model->bodies;
    int i = last, end = bodies[last].v_index + bodies[last].nv;
    while (i > 0 && !bodies[i - 1].trunk && (end - bodies[i].v_index) * model->nv < GIVEN_TOGETHER) {
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

/* Stores all rows of the trunk after those of the other bodies. Finishes the other rows if `gives` is true. Returns
 * true if all of M is finished and finite. */
static int put_trunks(const dyn_model *model, const crba_tree *t, bool gives, real *M) {
    const body *bodies = model->bodies;
    int finite = 1, nv = model->nv;
    for (int last = model->body_count - 1, i; last >= 0; last = i - 1) {
        if (bodies[last].trunk) {
            i = first_multiplied(model, last);
            finite &= put_trunk_rows(model, t, i, last, M);
        } else {
            i = first_given(model, last);
            int rows = bodies[last].v_index + bodies[last].nv - bodies[i].v_index;
            finite &= !gives || give(M + bodies[i].v_index * nv, (size_t)(rows * nv));
        }
    }
    return finite;
}

/* Computes M. If `gives` is true, finishes it in the rows of the caller and returns true if all entries are finite. */
static int compute(const dyn_model *model, void *memory, const real *q, bool gives, real *M) {
    crba_tree t;
    t.S = motion_columns_at((size_t)model->nv, &memory);
    t.F = motion_columns_at((size_t)model->nv, &memory);
    t.turns = KERNEL(joint_turns)(model, q, &memory);
    t.X = (placement *)memory;
    t.composite = (rigid_inertia *)(t.X + model->body_count);
    bool trunk = place_bodies(model, &t, q);
    size_t entries = (size_t)model->nv * (size_t)model->nv;
    for (size_t k = 0; !trunk && clears_all(model) && k < entries; k++) {
        M[k] = real_set(0);
    }
    for (int i = model->body_count - 1; i >= 0; i--) {
        const body *b = &model->bodies[i];
        if (b->trunk) {
            put_forces(model, &t, i);
        } else if (trunk) {
            put_rows(model, &t, i, M);
        } else {
            put_columns(model, &t, i, M);
        }
        if (b->parent >= 0) {
            t.composite[b->parent] = rigid_inertia_add(t.composite[b->parent], carried_inertia(b, &t, i));
        }
    }
    if (trunk) {
        return put_trunks(model, &t, gives, M);
    }
    return gives ? give(M, entries) : 1;
}

void KERNEL(crba)(const dyn_model *model, void *memory, const void *q, void *M) {
    compute(model, memory, (const real *)q, false, (real *)M);
}

int KERNEL(crba_in_row)(const dyn_model *model, void *memory, const void *q, void *M) {
    return compute(model, memory, (const real *)q, true, (real *)M);
}
