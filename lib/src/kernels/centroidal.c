/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Centroidal momentum h_G = A_G v, about the centre of mass c in world axes, and the rate of A_G.
 *
 * I_c is the composite inertia of a subtree about the world's origin, and D_c the sum of the rates dI/dt = v x* I - I v
 * x of its bodies. A joint's column S contributes the momentum (k; l) about the origin and its rate
 *     (k; l) = I_c S        (dk; dl) = I_c dS/dt + D_c S
 * and about the centre of mass, which moves with dc/dt,
 *     (k - c x l; l)        (dk - dc/dt x l - c x dl; dl)
 *
 * Source: Orin, Goswami and Lee 2013; Wensing and Orin 2016.
 */
#include "spatial_matrix.h"
#include "world_tree.h"
#include "stages.h"

typedef struct composite_body {
    rigid_inertia I;
    spatial_matrix D;
} composite_body;

size_t KERNEL(centroidal_memory)(const dyn_model *model) {
    return world_tree_memory(model) + (size_t)model->body_count * sizeof(composite_body);
}

/* Computes D = v x* I - I v x. */
static void inertia_rate(rigid_inertia I, motion v, spatial_matrix *D) {
    for (int k = 0; k < SPATIAL_COLUMNS; k++) {
        motion e = axis_motion((spatial_axis)k);
        D->column[k] = force_sub(force_cross(v, rigid_inertia_apply(I, e)), rigid_inertia_apply(I, motion_cross(v, e)));
    }
}

/* Returns the force about the point c. */
static inline force about_point(force a, vec3 c) {
    return force_set(vec3_sub(a.n, vec3_cross(c, a.f)), a.f);
}

/* Adds the force a to a column of a 6 x nv matrix. */
static void add_column(force a, int nv, real *column) {
    const real entries[6] = {a.n.x, a.n.y, a.n.z, a.f.x, a.f.y, a.f.z};
    for (int row = 0; row < 6; row++) {
        column[row * nv] = column[row * nv] + entries[row];
    }
}

/* Stores the inertia about the centre of mass, I - m (c.c 1 - c c'), as a full matrix. */
static void store_inertia(rigid_inertia B, vec3 c, real *out) {
    real xx = c.x * c.x, yy = c.y * c.y, zz = c.z * c.z;
    sym3 I = sym3_set(B.I.xx - B.m * (yy + zz), real_fma(B.m, c.x * c.y, B.I.xy), real_fma(B.m, c.x * c.z, B.I.xz),
                      B.I.yy - B.m * (xx + zz), real_fma(B.m, c.y * c.z, B.I.yz), B.I.zz - B.m * (xx + yy));
    out[0] = I.xx, out[1] = out[3] = I.xy, out[2] = out[6] = I.xz;
    out[4] = I.yy, out[5] = out[7] = I.yz, out[8] = I.zz;
}

/* Accumulates inertias and their rates from the tips to the root. Returns the inertia of the whole robot. */
static rigid_inertia sum_composites(const dyn_model *model, const world_tree *tree, composite_body *composites) {
    rigid_inertia whole;
    whole.m = real_set(0), whole.h = vec3_zero(), whole.I = sym3_zero();
    for (int i = 0; i < model->body_count; i++) {
        composites[i].I = world_inertia(model, tree, i);
        inertia_rate(composites[i].I, tree->bodies[i].v, &composites[i].D);
    }
    for (int i = model->body_count - 1; i >= 0; i--) {
        int parent = model->bodies[i].parent;
        if (parent >= 0) {
            composites[parent].I = rigid_inertia_add(composites[parent].I, composites[i].I);
            spatial_matrix_add(&composites[parent].D, &composites[i].D);
        } else {
            whole = rigid_inertia_add(whole, composites[i].I);
        }
    }
    return whole;
}

void KERNEL(centroidal)(const dyn_model *model, void *memory, const void *q, const void *v, const void *zero_a,
                        void *inertia, void *A_G, void *dA_G) {
    if (SERVES_STAGES && model->stage_count > 0) {
        KERNEL(staged_centroidal)(model, memory, q, v, inertia, A_G, dA_G);
        return;
    }
    world_tree tree =
        find_world_tree(model, model->body_count, &memory, (const real *)q, (const real *)v, (const real *)zero_a);
    composite_body *composites = (composite_body *)memory;
    rigid_inertia whole = sum_composites(model, &tree, composites);
    int nv = model->nv;
    real *A = (real *)A_G, *dA = (real *)dA_G, inverse_m = real_set(1) / whole.m;
    vec3 c = vec3_scale(inverse_m, whole.h), momentum = vec3_zero();
    for (int i = 0; i < 6 * nv; i++) {
        A[i] = dA[i] = real_set(0);
    }
    for (int i = 0; i < model->body_count; i++) {
        rigid_inertia I = world_inertia(model, &tree, i);
        momentum = vec3_add(momentum, rigid_inertia_apply(I, tree.bodies[i].v).f);
    }
    vec3 dc = vec3_scale(inverse_m, momentum);
    for (int i = 0; i < model->body_count; i++) {
        const body *b = &model->bodies[i];
        for (int k = 0; k < b->nv; k++) {
            const tree_column *column = &tree.columns[tree.bodies[i].first_column + k];
            force kl = rigid_inertia_apply(composites[i].I, column->S);
            force rate = force_add(rigid_inertia_apply(composites[i].I, column_rate(column)),
                                   spatial_matrix_apply(&composites[i].D, column->S));
            rate = about_point(rate, c);
            rate.n = vec3_sub(rate.n, vec3_cross(dc, kl.f));
            add_column(about_point(kl, c), nv, A + b->v_index + k);
            add_column(rate, nv, dA + b->v_index + k);
        }
    }
    store_inertia(whole, c, (real *)inertia);
}

void KERNEL(centroidal_momentum)(const dyn_model *model, void *memory, const void *q, const void *v, const void *zero_a,
                                 void *momentum) {
    if (SERVES_STAGES && model->stage_count > 0) {
        KERNEL(staged_centroidal_momentum)(model, memory, q, v, momentum);
        return;
    }
    int count = count_computed(model);
    world_tree tree = find_world_tree(model, count, &memory, (const real *)q, (const real *)v, (const real *)zero_a);
    force sum = force_zero();
    vec3 h = vec3_zero();
    real m = real_set(0);
    for (int i = 0; i < count; i++) {
        const body *b = &model->bodies[i];
        rigid_inertia I = computed_world_inertia(model, &tree, i);
        sum = force_add(sum, rigid_inertia_apply(I, tree.bodies[i].v));
        if (has_driven_joints(model) && b->is_driven) {
            sum.n = vec3_fma(((const real *)v)[b->v_index], world_couple(&tree, b), sum.n);
        }
        h = vec3_add(h, I.h);
        m = m + I.m;
    }
    sum = about_point(sum, vec3_scale(real_set(1) / m, h));
    real *out = (real *)momentum;
    out[0] = sum.n.x, out[1] = sum.n.y, out[2] = sum.n.z;
    out[3] = sum.f.x, out[4] = sum.f.y, out[5] = sum.f.z;
}
