/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Centre of mass of a subtree, with its velocity, acceleration and Jacobian.
 *
 * All quantities are about the world's origin: the first moment h of a body, its twist (w; v) and its spatial
 * acceleration (alpha; a). With sums over the bodies of the subtree, whose mass is M,
 *     M c = sum h        M dc/dt = sum m v + w x h        M d2c/dt2 = sum m a + alpha x h + w x (m v + w x h)
 * A joint with the column (s_w; s_v), whose subtree has the mass m and the first moment h, adds to the Jacobian
 *     (m s_v + s_w x h) / M
 *
 * The bodies of rotors have no mass.
 *
 * Source: Orin, Goswami and Lee 2013, "Centroidal dynamics of a humanoid robot".
 */
#include "world_tree.h"
#include "stages.h"

size_t KERNEL(center_of_mass_memory)(const dyn_model *model) {
    return world_tree_memory(model) + (size_t)model->body_count * sizeof(rigid_inertia);
}

/* Returns true if body i belongs to the subtree of `root`. All bodies belong to that of -1. */
static int is_in_subtree(const dyn_model *model, int i, int root) {
    while (i > root) {
        i = model->bodies[i].parent;
    }
    return i == root || root < 0;
}

static void store_vec3(vec3 a, real *out) {
    out[0] = a.x, out[1] = a.y, out[2] = a.z;
}

/* Stores the Jacobian, 3 x nv. `carried` holds, for each joint, the mass and first moment of its subtree. */
static void store_jacobian(const dyn_model *model, const world_tree *tree, const rigid_inertia *carried, real scale,
                           real *J) {
    for (int i = 0; i < 3 * model->nv; i++) {
        J[i] = real_set(0);
    }
    for (int i = 0; i < model->link_bodies; i++) {
        const body *b = &model->bodies[i];
        for (int k = 0; k < b->nv; k++) {
            motion S = tree->columns[tree->bodies[i].first_column + k].S;
            vec3 column = vec3_scale(scale, vec3_fma(carried[i].m, S.v, vec3_cross(S.w, carried[i].h)));
            real *at = J + b->v_index + k;
            at[0] = at[0] + column.x;
            at[model->nv] = at[model->nv] + column.y;
            at[2 * model->nv] = at[2 * model->nv] + column.z;
        }
    }
}

void KERNEL(center_of_mass)(const dyn_model *model, void *memory, const void *q, const void *v, const void *a, int root,
                            void *motion_out, void *jacobian) {
    if (SERVES_STAGES && model->stage_count > 0) {
        KERNEL(staged_center_of_mass)(model, memory, q, v, a, root, motion_out, jacobian);
        return;
    }
    world_tree tree =
        find_world_tree(model, model->link_bodies, &memory, (const real *)q, (const real *)v, (const real *)a);
    rigid_inertia *carried = (rigid_inertia *)memory;
    vec3 c = vec3_zero(), velocity = vec3_zero(), acceleration = vec3_zero();
    double M = 0;
    for (int i = 0; i < model->link_bodies; i++) {
        const tree_body *k = &tree.bodies[i];
        rigid_inertia I = world_inertia(model, &tree, i);
        carried[i].m = real_set(0), carried[i].h = vec3_zero(), carried[i].I = sym3_zero();
        if (!is_in_subtree(model, i, root)) {
            continue;
        }
        vec3 p = vec3_fma(I.m, k->v.v, vec3_cross(k->v.w, I.h));
        vec3 rate = vec3_fma(I.m, k->a.v, vec3_add(vec3_cross(k->a.w, I.h), vec3_cross(k->v.w, p)));
        carried[i].m = I.m, carried[i].h = I.h;
        M += model->bodies[i].mass;
        c = vec3_add(c, I.h);
        velocity = vec3_add(velocity, p);
        acceleration = vec3_add(acceleration, rate);
    }
    for (int i = model->link_bodies - 1; i >= 0; i--) {
        int parent = model->bodies[i].parent;
        if (parent >= 0) {
            carried[parent].m = carried[parent].m + carried[i].m;
            carried[parent].h = vec3_add(carried[parent].h, carried[i].h);
        }
    }
    real scale = real_set(1 / M), *out = (real *)motion_out;
    store_vec3(vec3_scale(scale, c), out);
    store_vec3(vec3_scale(scale, velocity), out + 3);
    store_vec3(vec3_scale(scale, acceleration), out + 6);
    store_jacobian(model, &tree, carried, scale, (real *)jacobian);
}
