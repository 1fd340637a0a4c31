/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Computes the motion of a tree in one frame (columns.h) and sums over subtrees: the terms of the second derivatives of
 * inverse dynamics and of the centroidal derivatives.
 *
 * For the subtree of body i, I is the inertia, p the momentum field, and f the inertial wrench.
 */
#ifndef DYNAMICS_KERNELS_SUBTREES_H
#define DYNAMICS_KERNELS_SUBTREES_H

#include "columns.h"
#include "coriolis_map.h"

/* Terms of body i. They become the sums over its subtree when those of its children are added. */
typedef struct subtree {
    rigid_inertia I;
    momentum_field p;
    force f;
} subtree;

/* Tree in motion, with the terms of its bodies or subtrees. */
typedef struct tree {
    const dyn_model *model;
    const double *gravity;
    const placement *X;
    tree_body *bodies;
    tree_column *columns;
    subtree *subtrees;
} tree;

static inline size_t subtrees_memory(const dyn_model *model) {
    return KERNEL(placements_memory)(model) + (size_t)model->body_count * (sizeof(tree_body) + sizeof(subtree)) +
           column_count(model) * sizeof(tree_column);
}

/* Returns the terms of a body: f = I a + v x* I v. */
static inline subtree body_terms(const body *b, const tree_body *k) {
    subtree x;
    x.I = b->parent < 0 ? body_inertia(b) : rigid_inertia_to_parent(k->W, body_inertia(b));
    x.p = momentum_field_of(x.I, k->v);
    x.f = force_add(rigid_inertia_apply(x.I, k->a), force_cross(k->v, momentum_field_sum(x.p)));
    return x;
}

static inline void subtree_add(subtree *sum, const subtree *x) {
    sum->I = rigid_inertia_add(sum->I, x->I);
    sum->p = momentum_field_add(sum->p, x->p);
    sum->f = force_add(sum->f, x->f);
}

/* Computes the motion and the terms of each body, from the root on. */
static inline void carry_motion(const tree *t, const real *v, const real *a) {
    for (int i = 0, first = 0; i < t->model->body_count; first += t->model->bodies[i].nv, i++) {
        const body *b = &t->model->bodies[i];
        tree_body *k = &t->bodies[i];
        k->first_column = first;
        if (b->parent < 0) {
            tree_body world = tree_world(t->X[i], t->gravity);
            k->W = placement_identity();
            carry_columns(b, &world, v + b->v_index, a + b->v_index, k, t->columns + first);
        } else {
            k->W = placement_compose(t->bodies[b->parent].W, t->X[i]);
            carry_columns(b, &t->bodies[b->parent], v + b->v_index, a + b->v_index, k, t->columns + first);
        }
        t->subtrees[i] = body_terms(b, k);
    }
}

/* Returns the tree at (q, v, a), with the terms of each body. */
static inline tree find_tree(const dyn_model *model, void *memory, const double gravity[3], const real *q,
                             const real *v, const real *a) {
    tree t;
    t.model = model, t.gravity = gravity;
    t.X = KERNEL(placements)(model, q, &memory);
    t.columns = (tree_column *)memory;
    t.subtrees = (subtree *)(t.columns + column_count(model));
    t.bodies = (tree_body *)(t.subtrees + model->body_count);
    carry_motion(&t, v, a);
    return t;
}

/* Subtracts the external wrenches that are constant in local axes from f of their bodies. `forces` may be NULL. */
static inline void subtract_local_wrenches(const tree *t, const wrench_set *forces) {
    for (size_t j = 0; forces && j < forces->count; j++) {
        int i = t->model->frames[forces->frames[j].frame].body;
        if (forces->frames[j].reference_frame == DYN_REFERENCE_FRAME_LOCAL) {
            force F = KERNEL(body_wrench)(t->model, t->X, forces->frames[j], (const real *)forces->wrenches + 6 * j);
            t->subtrees[i].f = force_sub(t->subtrees[i].f, force_to_parent(t->bodies[i].W, F));
        }
    }
}

#endif
