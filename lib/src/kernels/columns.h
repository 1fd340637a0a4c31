/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Computes the motion of a tree in one frame: the columns of all joints and their rates, from which the files of the
 * derivatives compute their results.
 *
 * The frame is that of the root body at q, and it is at rest. The root's placement in it is the identity, so that
 * coordinates are of the robot's size, however far from the world's origin it is. The columns S_j include the ratio of
 * a mimic joint. An increment of coordinate j moves the subtree of its joint by S_j. With v_p and a_p the motion of the
 * joint's parent and v_j the velocity of its body,
 *
 *     Psi_dot_j = v_p x S_j        Psi_ddot_j = a_p x S_j + v_p x Psi_dot_j        S_dot_j = v_j x S_j
 *
 * Source: Singh, Russell and Wensing 2022, section III, "Efficient analytical derivatives of rigid-body dynamics using
 * spatial vector algebra".
 */
#ifndef DYNAMICS_KERNELS_COLUMNS_H
#define DYNAMICS_KERNELS_COLUMNS_H

#include "instance.h"

typedef struct tree_body {
    placement W;
    motion v, a;
    int first_column;
} tree_body;

typedef struct tree_column {
    motion S, Psi_dot, Psi_ddot;
    motion rate; /* Psi_dot + S_dot */
} tree_column;

/* Returns the number of columns: one for each coordinate of each body, mimic joints included. */
static inline size_t column_count(const dyn_model *model) {
    size_t count = 0;
    for (int i = 0; i < model->body_count; i++) {
        count += (size_t)model->bodies[i].nv;
    }
    return count;
}

/* Returns column k of a joint whose body has the placement W, times the ratio of a mimic joint. */
static inline motion placed_column(const body *b, placement W, int k) {
    const spatial_axis axis = motion_axes(b->motion)[k];
    vec3 e;
    switch (axis) {
    case AXIS_WX:
    case AXIS_VX:
        e = mat3_column_x(W.R);
        break;
    case AXIS_WY:
    case AXIS_VY:
        e = mat3_column_y(W.R);
        break;
    default:
        e = mat3_column_z(W.R);
    }
    if (b->ratio != 1) {
        e = vec3_scale(real_set(b->ratio), e);
    }
    if (axis >= AXIS_VX) {
        return motion_set(vec3_zero(), e);
    }
    vec3 moment = vec3_cross(W.r, e);
    return motion_set(e, b->pitch == 0 ? moment : vec3_fma(real_set(b->pitch), e, moment));
}

/* Returns the motion of the world, at rest and with a_0 = -g, in the axes of a root whose placement is X. */
static inline tree_body tree_world(placement X, const double gravity[3]) {
    tree_body world;
    world.v = motion_zero();
    world.a = motion_set(vec3_zero(), mat3_apply_transposed(X.R, vec3_sub(vec3_zero(), vec3_constant(gravity))));
    return world;
}

/* Computes the motion of a body with the placement k->W, and its columns, from the motion of its parent. */
static inline void carry_columns(const body *b, const tree_body *parent, const real *v, const real *a, tree_body *k,
                                 tree_column *columns) {
    motion vJ = motion_zero();
    k->a = parent->a;
    for (int l = 0; l < b->nv; l++) {
        tree_column *c = &columns[l];
        c->S = placed_column(b, k->W, l);
        c->Psi_dot = motion_cross(parent->v, c->S);
        c->Psi_ddot = motion_add(motion_cross(parent->a, c->S), motion_cross(parent->v, c->Psi_dot));
        c->rate = motion_add(c->Psi_dot, c->Psi_dot);
        vJ = motion_fma(v[l], c->S, vJ);
        k->a = motion_fma(a[l], c->S, motion_fma(v[l], c->Psi_dot, k->a));
    }
    k->v = motion_add(parent->v, vJ);
    for (int l = 0; l < b->nv && b->nv > 1; l++) {
        columns[l].rate = motion_add(columns[l].rate, motion_cross(vJ, columns[l].S));
    }
}

#endif
