/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Defines the state of the composite-rigid-body algorithm (crba.c), and its steps from a body to the parent.
 */
#ifndef DYNAMICS_KERNELS_CRBA_TREE_H
#define DYNAMICS_KERNELS_CRBA_TREE_H

#include "hinge.h"
#include "motion_columns.h"

/* Scratch memory. The last two members are used in trees with a trunk only. */
typedef struct crba_tree {
    joint_turns turns;
    placement *X;             /* of bodies without a hinge, in the parent; of the trunk and its children, in the root */
    rigid_inertia *composite; /* of bodies, in the body; of the trunk, in the root */
    motion_columns S;         /* of the trunk, in the root */
    motion_columns F;         /* (n; f) of all coordinates of the trunk and its subtree, in the root */
} crba_tree;

/* Computes M of a tree with a trunk (crba_trunk.c). If `in_row` is true, M is the caller's row, and is finished as
 * unpack does. Returns true if M is finished and finite. */
int KERNEL(crba_trunk)(const dyn_model *model, const crba_tree *t, bool in_row, real *M);

/* Returns F = I_c S of a hinge. */
KERNEL_STEP force hinge_column_force(rigid_inertia I) {
    return force_set(vec3_set(I.I.xz, I.I.yz, I.I.zz), vec3_set(-I.h.y, I.h.x, real_set(0)));
}

/* Returns F = I_c S_k of body b with a joint of any type. S_k includes the ratio of a mimic joint. */
KERNEL_STEP force column_force(const body *b, rigid_inertia I, int k) {
    if (b->hinge) {
        return hinge_column_force(I);
    }
    motion S = joint_column(b, b->motion, k);
    return rigid_inertia_apply(I, motion_fma(rounded_set(constants_of(b)->ratio), S, motion_zero()));
}

/* Returns F of body j, transformed to its parent. */
KERNEL_STEP force column_force_to_parent(const body *b, const crba_tree *t, int j, force F) {
    return b->hinge && !b->is_trunk_child ? hinge_force_to_parent(hinge_at(b, t->turns, j), F, force_zero())
                                          : force_to_parent(t->X[j], F);
}

/* Returns the composite inertia of body i, transformed to its parent. */
KERNEL_STEP rigid_inertia composite_to_parent(const body *b, const crba_tree *t, int i) {
    return b->hinge && !b->is_trunk_child ? hinge_inertia_to_parent(hinge_at(b, t->turns, i), t->composite[i])
                                          : rigid_inertia_to_parent(t->X[i], t->composite[i]);
}

/* Returns the column after the last one of the subtree of a body, in a model without mimic joints. */
static inline int end_of_subtree(const body *b) {
    return b->v_index + b->nv + b->columns_behind;
}

/* Turns -0 into 0 in `count` numbers of M that the scalar instance in double precision has computed in the rows of the
 * caller, as unpack does. Returns true if all are finite. Other instances return true: unpack does so later. */
static inline int finish_entries(real *rows, size_t count) {
#if DYN_LANES == 1 && !defined DYN_FLOAT && !defined DYN_REAL_HEADER
    return KERNEL(unpack)(rows, count, 1, rows);
#else
    (void)rows, (void)count;
    return 1;
#endif
}

#endif
