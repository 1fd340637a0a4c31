/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Computes the motion of a tree in the world's frame: placements, twists and accelerations of all bodies, and the
 * columns of all joints with their rates (columns.h). Spatial vectors are about the world's origin.
 */
#ifndef DYNAMICS_KERNELS_WORLD_TREE_H
#define DYNAMICS_KERNELS_WORLD_TREE_H

#include "columns.h"
#include "driven_joint.h"

typedef struct world_tree {
    tree_body *bodies;
    tree_column *columns; /* columns of body i start at bodies[i].first_column */
} world_tree;

static inline size_t world_tree_memory(const dyn_model *model) {
    return KERNEL(placements_memory)(model) + (size_t)model->body_count * sizeof(tree_body) +
           column_count(model) * sizeof(tree_column);
}

/* Returns the first `count` bodies of the tree at (q, v, a), without gravity, at the start of *memory, and advances it.
 */
static inline world_tree find_world_tree(const dyn_model *model, int count, void **memory, const real *q, const real *v,
                                         const real *a) {
    placement *X = KERNEL(placements)(model, q, memory);
    world_tree tree;
    tree.bodies = (tree_body *)*memory;
    tree.columns = (tree_column *)(tree.bodies + model->body_count);
    tree_body world;
    world.v = world.a = motion_zero();
    int columns = 0;
    for (int i = 0; i < count; i++) {
        const body *b = &model->bodies[i];
        tree_body *k = &tree.bodies[i], *parent = b->parent < 0 ? &world : &tree.bodies[b->parent];
        k->W = b->parent < 0 ? X[i] : placement_compose(parent->W, X[i]);
        k->first_column = columns;
        carry_columns(b, parent, v + b->v_index, a + b->v_index, k, tree.columns + columns);
        columns += b->nv;
    }
    *memory = tree.columns + columns;
    return tree;
}

/* Returns dS/dt = v x S of a column, with the twist v of its body. */
static inline motion column_rate(const tree_column *c) {
    return motion_set(vec3_sub(c->rate.w, c->Psi_dot.w), vec3_sub(c->rate.v, c->Psi_dot.v));
}

/* Returns the inertia of body i about the world's origin. */
static inline rigid_inertia world_inertia(const dyn_model *model, const world_tree *tree, int i) {
    return rigid_inertia_to_parent(tree->bodies[i].W, body_inertia(&model->bodies[i]));
}

/* Returns the inertia of body i about the world's origin where the first count_computed bodies are computed. */
static inline rigid_inertia computed_world_inertia(const dyn_model *model, const world_tree *tree, int i) {
    return rigid_inertia_to_parent(tree->bodies[i].W, computed_inertia(model, &model->bodies[i]));
}

/* Returns g of the joint of a body (driven_joint.h) in the axes of the world. */
static inline vec3 world_couple(const world_tree *tree, const body *b) {
    return b->parent < 0 ? rotor_couple(b) : mat3_apply(tree->bodies[b->parent].W.R, rotor_couple(b));
}

#endif
