/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Derivatives of the gravity forces g(q).
 *
 * In the frame of columns.h, where all bodies have the acceleration a_0 = -g. For the subtree of joint i let m be the
 * mass, h the first moment, and p its linear momentum when it moves with S_i = (w_i; v_i). Then, for j = i and its
 * ancestors,
 *
 *     p = m v_i + w_i x h        d g_i / d q_j = d g_j / d q_i = w_j . (p x a_0)
 *
 * The bodies of rotors have no mass.
 *
 * Source: Singh, Russell and Wensing 2022, algorithm 1, at rest, where the linear part of I Psi_ddot + S x* f vanishes.
 */
#include "columns.h"
#include "stages.h"

/* Placement of a body, mass and first moment of its subtree, and the acceleration of the tree's world. */
typedef struct heavy_body {
    placement W;
    real m;
    vec3 h, a_0;
} heavy_body;

size_t KERNEL(gravity_derivatives_memory)(const dyn_model *model) {
    return KERNEL(placements_memory)(model) + (size_t)model->body_count * sizeof(heavy_body);
}

static void outward_pass(const dyn_model *model, const placement *X, const double gravity[3], heavy_body *bodies) {
    for (int i = 0; i < model->link_bodies; i++) {
        const body *b = &model->bodies[i];
        heavy_body *k = &bodies[i];
        if (b->parent < 0) {
            k->W = placement_identity();
            k->a_0 = tree_world(X[i], gravity).a.v;
        } else {
            k->W = placement_compose(bodies[b->parent].W, X[i]);
            k->a_0 = bodies[b->parent].a_0;
        }
        k->m = real_set(b->mass);
        k->h = vec3_fma(k->m, k->W.r, mat3_apply(k->W.R, vec3_constant(b->first_moment)));
    }
}

/* Adds the row and the column of coordinate k of body i. `moment` is p x a_0. */
static void add_entries(const dyn_model *model, const heavy_body *bodies, int i, int k, vec3 moment, real *out) {
    int nv = model->nv, row = model->bodies[i].v_index + k;
    for (int j = i; j >= 0; j = model->bodies[j].parent) {
        const body *b = &model->bodies[j];
        for (int l = 0; l < b->nv; l++) {
            int column = b->v_index + l;
            real entry = vec3_dot(placed_column(b, bodies[j].W, l).w, moment);
            out[row * nv + column] += entry;
            if (j < i) {
                out[column * nv + row] += entry;
            }
        }
    }
}

void KERNEL(gravity_derivatives)(const dyn_model *model, void *memory, const double gravity[3], const void *q,
                                 void *dg_dq) {
    if (SERVES_STAGES && model->stage_count > 0) {
        KERNEL(staged_gravity_derivatives)(model, memory, gravity, q, dg_dq);
        return;
    }
    placement *X = KERNEL(placements)(model, (const real *)q, &memory);
    heavy_body *bodies = (heavy_body *)memory;
    real *out = (real *)dg_dq;
    for (int i = 0; i < model->nv * model->nv; i++) {
        out[i] = real_set(0);
    }
    outward_pass(model, X, gravity, bodies);
    for (int i = model->link_bodies - 1; i >= 0; i--) {
        const body *b = &model->bodies[i];
        const heavy_body *x = &bodies[i];
        for (int k = 0; k < b->nv; k++) {
            motion S = placed_column(b, x->W, k);
            vec3 p = vec3_fma(x->m, S.v, vec3_cross(S.w, x->h));
            add_entries(model, bodies, i, k, vec3_cross(p, x->a_0), out);
        }
        if (b->parent >= 0) {
            bodies[b->parent].m = bodies[b->parent].m + x->m;
            bodies[b->parent].h = vec3_add(bodies[b->parent].h, x->h);
        }
    }
}
