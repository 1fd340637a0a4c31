/*
 * The composite-rigid-body algorithm: M(q).
 *
 *     I_c = I + sum over children of X* I_c X
 *     F = I_c S_i                      M_ii = S_i' F
 *     F = X* F, towards the root       M_ij = M_ji = S_j' F
 *
 * In the trunk of a large tree (model/normal_form.h) all is expressed in the axes of its root at q: there X is the
 * identity and S_j six numbers, and to multiply with them costs less than to carry F. The entries on both sides of the
 * diagonal are then computed, row after row: large matrices are written in the order of memory, and not read again.
 *
 * A coupled mimic joint adds its columns, times its ratio, to its master's.
 *
 * Sources: Walker and Orin 1982, method 3; Featherstone 2008, table 6.2.
 */
#include "columns.h"
#include "hinge.h"
#include "joint_placement.h"
#include "motion_columns.h"

typedef struct crba_tree {
    joint_turns turns;
    placement *X; /* of bodies that no hinge carries in the parent; of the trunk and what hangs on it, in the root */
    rigid_inertia *composite;
    motion_columns S; /* of the trunk but for its root, */
    motion_columns F; /* and (n; f) of all coordinates behind that, in the root */
} crba_tree;

size_t KERNEL(crba_memory)(const dyn_model *model) {
    return (size_t)model->body_count * (3 * sizeof(real) + sizeof(placement) + sizeof(rigid_inertia)) +
           2 * motion_columns_room((size_t)model->nv) * sizeof(real);
}

/* Placements, the columns of the trunk, and each body's own inertia; returns whether there is a trunk. */
static bool place_bodies(const dyn_model *model, const crba_tree *t, const real *q) {
    bool trunk = false;
    for (int i = 0; i < model->body_count; i++) {
        const body *b = &model->bodies[i];
        t->composite[i] = body_inertia(b);
        if (b->hinge && !b->trunk && !b->on_trunk) {
            continue;
        }
        t->X[i] = b->hinge ? hinge_placement(hinge_at(b, t->turns, i))
                           : joint_placement(b, q + b->q_index, t->turns.sine[i], t->turns.cosine[i]);
        if (b->on_trunk) {
            t->X[i] = placement_compose(t->X[b->parent], t->X[i]);
        }
        if (b->trunk) {
            trunk = true;
            t->composite[i] = rigid_inertia_to_parent(t->X[i], t->composite[i]);
            for (int k = 0; k < b->nv; k++) {
                motion_columns_set(t->S, b->v_index + k, placed_column(b, t->X[i], k));
            }
        }
    }
    return trunk;
}

/* F = I_c S of a hinge. */
KERNEL_STEP force hinge_column_force(rigid_inertia I) {
    return force_set(vec3_set(I.I.xz, I.I.yz, I.I.zz), vec3_set(-I.h.y, I.h.x, real_set(0)));
}

/* F = I_c S_k of any body, with the ratio of a mimic joint. */
static force column_force(const body *b, const crba_tree *t, int i, int k) {
    rigid_inertia I = t->composite[i];
    if (b->trunk) {
        return rigid_inertia_apply(I, motion_columns_get(t->S, b->v_index + k));
    }
    if (b->hinge) {
        return hinge_column_force(I);
    }
    motion S = joint_column(b, b->motion, k);
    return rigid_inertia_apply(I, motion_fma(real_set(b->ratio), S, motion_zero()));
}

/* F of body j, seen from its parent. */
KERNEL_STEP force carry_force(const body *b, const crba_tree *t, int j, force F) {
    return b->hinge && !b->on_trunk ? hinge_force_to_parent(hinge_at(b, t->turns, j), F, force_zero())
                                    : force_to_parent(t->X[j], F);
}

/* Adds the entries of a row with the coordinates of body j above it, and their mirror. */
KERNEL_STEP void add_entries(const dyn_model *model, int row, int j, force F, real *M) {
    const body *p = &model->bodies[j];
    int nv = model->nv;
    if (p->hinge) {
        M[row * nv + p->v_index] += F.n.z;
        M[p->v_index * nv + row] += F.n.z;
        return;
    }
    for (int l = 0; l < p->nv; l++) {
        real m = real_set(p->ratio) * joint_force(p, p->motion, l, F);
        int column = p->v_index + l;
        M[row * nv + column] += m;
        M[column * nv + row] += m;
    }
}

/* Row v_index + k of M for coordinate k of body i, and the column that mirrors it. */
static void carry_column(const dyn_model *model, const crba_tree *t, int i, int k, real *M) {
    const body *b = &model->bodies[i];
    force F = column_force(b, t, i, k);
    int nv = model->nv, row = b->v_index + k;
    for (int l = 0; l < b->nv; l++) {
        M[row * nv + b->v_index + l] += real_set(b->ratio) * joint_force(b, b->motion, l, F);
    }
    for (int j = i; model->bodies[j].parent >= 0;) {
        F = carry_force(&model->bodies[j], t, j, F);
        j = model->bodies[j].parent;
        add_entries(model, row, j, F, M);
    }
}

/* Zeros from column `from` to `to` - 1. */
static inline void clear_entries(int from, int to, real *row) {
    for (int column = from; column < to; column++) {
        row[column] = real_set(0);
    }
}

/* The entries of a row with `count` coordinates of body j, which is not of the trunk, and their mirror; zeros from there
 * to column `filled`. Returns the first column that is filled now. */
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

/* The same with the trunk from body j on, chain after chain; the root is left. */
static int put_trunk(const dyn_model *model, const crba_tree *t, int *j, force F, int filled, real *row) {
    const body *bodies = model->bodies;
    while (bodies[*j].trunk) {
        const body *end = &bodies[*j], *first = &bodies[end->chain];
        int from = first->v_index + (first->parent < 0 ? first->nv : 0), to = end->v_index + end->nv;
        to = to < filled ? to : filled;
        clear_entries(to, filled, row);
        motion_columns_dot(t->S, F, from, to, row);
        filled = from;
        *j = first->parent < 0 ? end->chain : first->parent;
    }
    return filled;
}

/* The row, and the column that mirrors it, of a body that is not of the trunk, if there is one, and on hinges all the way
 * from the world. */
KERNEL_STEP void carry_hinge_column(const dyn_model *model, const crba_tree *t, bool trunk, int i, real *M) {
    const body *bodies = model->bodies;
    int nv = model->nv, row = bodies[i].v_index, filled = row, j = i;
    force F = hinge_column_force(t->composite[i]);
    M[row * nv + row] = F.n.z;
    while (bodies[j].parent >= 0) {
        if (trunk && bodies[j].on_trunk) {
            F = force_to_parent(t->X[j], F);
            motion_columns_set(t->F, row, motion_set(F.n, F.f));
            j = bodies[j].parent;
            filled = put_trunk(model, t, &j, F, filled, M + row * nv);
        } else {
            F = hinge_force_to_parent(hinge_at(&bodies[j], t->turns, j), F, force_zero());
            j = bodies[j].parent;
        }
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

/* The same for coordinate k of any body in a tree with a trunk; what is of the trunk has no mirror. */
static void put_below_diagonal(const dyn_model *model, const crba_tree *t, int i, int k, real *M) {
    const body *bodies = model->bodies;
    int j = i, row = bodies[i].v_index + k, filled = row + 1;
    force F = column_force(&bodies[i], t, i, k);
    if (!bodies[i].trunk) {
        filled = put_entries(model, row, i, k + 1, F, filled, M);
    }
    while (bodies[j].parent >= 0 && !bodies[j].trunk) {
        F = carry_force(&bodies[j], t, j, F);
        j = bodies[j].parent;
        if (!bodies[j].trunk) {
            filled = put_entries(model, row, j, bodies[j].nv, F, filled, M);
        }
    }
    if (bodies[j].trunk) {
        motion_columns_set(t->F, row, motion_set(F.n, F.f));
        filled = put_trunk(model, t, &j, F, filled, M + row * model->nv);
        filled = put_entries(model, row, j, bodies[j].nv, F, filled, M);
    }
    clear_entries(0, filled, M + row * model->nv);
}

/* And from there on: also S' F in the trunk; else the mirror is there. */
static void put_above_diagonal(const dyn_model *model, const crba_tree *t, int i, int k, real *M) {
    const body *b = &model->bodies[i];
    int row = b->v_index + k, to = b->v_index + b->nv + b->columns_behind;
    if (b->trunk) {
        motion S = motion_columns_get(t->S, row);
        motion_columns_dot(t->F, force_set(S.w, S.v), row + 1, to, M + row * model->nv);
    }
    clear_entries(to, model->nv, M + row * model->nv);
}

/* What the parent carries of body i. */
KERNEL_STEP rigid_inertia carried_inertia(const body *b, const crba_tree *t, int i) {
    if (b->trunk) {
        return t->composite[i];
    }
    return b->hinge && !b->on_trunk ? hinge_inertia_to_parent(hinge_at(b, t->turns, i), t->composite[i])
                                    : rigid_inertia_to_parent(t->X[i], t->composite[i]);
}

/* All rows of body i in a tree without a trunk, */
static void put_columns(const dyn_model *model, const crba_tree *t, int i, real *M) {
    const body *b = &model->bodies[i];
    if (b->on_hinges) {
        carry_hinge_column(model, t, false, i, M);
        return;
    }
    for (int k = 0; k < b->nv; k++) {
        carry_column(model, t, i, k, M);
    }
}

/* and in one with a trunk, last first. */
static void put_rows(const dyn_model *model, const crba_tree *t, int i, real *M) {
    const body *b = &model->bodies[i];
    for (int k = b->nv - 1; k >= 0; k--) {
        if (b->on_hinges && !b->trunk) {
            carry_hinge_column(model, t, true, i, M);
        } else {
            put_below_diagonal(model, t, i, k, M);
        }
        put_above_diagonal(model, t, i, k, M);
    }
}

/* `count` numbers of M as the caller gets them in his rows; returns whether they are finite. */
static inline int give(real *rows, size_t count) {
#if DYN_LANES == 1 && !defined DYN_FLOAT && !defined DYN_REAL_HEADER
    return KERNEL(unpack)(rows, count, 1, rows);
#else
    (void)rows, (void)count;
    return 1;
#endif
}

/* Numbers of M that are given together: not too few, for the processor waits to load several where each has just been
 * written by itself, and not more than stay in the nearest cache. */
enum { GIVEN_TOGETHER = 2048 };

/* M; where it is given to the caller, some rows at a time, while they are in the cache. */
static int compute(const dyn_model *model, void *memory, const real *q, bool gives, real *M) {
    crba_tree t;
    t.S = motion_columns_at((size_t)model->nv, &memory);
    t.F = motion_columns_at((size_t)model->nv, &memory);
    t.turns = KERNEL(joint_turns)(model, q, &memory);
    t.X = (placement *)memory;
    t.composite = (rigid_inertia *)(t.X + model->body_count);
    bool trunk = place_bodies(model, &t, q);
    int finite = 1, nv = model->nv, given = nv;
    for (int k = 0; !trunk && k < nv * nv; k++) {
        M[k] = real_set(0);
    }
    for (int i = model->body_count - 1; i >= 0; i--) {
        const body *b = &model->bodies[i];
        if (trunk) {
            put_rows(model, &t, i, M);
            if (gives && (given - b->v_index) * nv >= GIVEN_TOGETHER) {
                finite &= give(M + b->v_index * nv, (size_t)((given - b->v_index) * nv));
                given = b->v_index;
            }
        } else {
            put_columns(model, &t, i, M);
        }
        if (b->parent >= 0) {
            t.composite[b->parent] = rigid_inertia_add(t.composite[b->parent], carried_inertia(b, &t, i));
        }
    }
    return gives ? finite & give(M, (size_t)(given * nv)) : finite;
}

void KERNEL(crba)(const dyn_model *model, void *memory, const void *q, void *M) {
    compute(model, memory, (const real *)q, false, (real *)M);
}

int KERNEL(crba_in_row)(const dyn_model *model, void *memory, const void *q, void *M) {
    return compute(model, memory, (const real *)q, true, (real *)M);
}
