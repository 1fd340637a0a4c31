/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Forces that the motion of the base causes.
 *
 * In the axes and about the origin of the world, the links move with the twists v_i, accelerations a_i and inertias I_i
 * where the base rests. A base with the twist V and the acceleration A adds V to each twist and A + V x v_i to each
 * acceleration. The equation f = I a + v x* I v of a link then has the further terms
 *     f_i = I_i (A + V x v_i) + V x* I_i (v_i + V) + v_i x* I_i V
 * whose sum over the links that a joint carries is its wrench. They do not depend on a.
 *
 * Source: the equations of Featherstone and Orin 2000, section 3, for a base that is not at rest.
 */
#include "base_motion.h"

#include "world_links.h"

void KERNEL(set_base_motion)(const double twist[6], const double acceleration[6], mechanism *m) {
    m->base_moves = 1;
    m->base_velocity = motion_set(vec3_constant(twist), vec3_constant(twist + 3));
    vec3 turned = vec3_cross(m->base_velocity.w, m->base_velocity.v);
    m->base_acceleration = motion_set(vec3_constant(acceleration), vec3_sub(vec3_constant(acceleration + 3), turned));
}

/* Returns the terms of a link whose joints move it, relative to the base, with the twist v. */
static force find_terms(const mechanism *m, rigid_inertia I, motion v) {
    motion V = m->base_velocity, A = motion_add(m->base_acceleration, motion_cross(V, v));
    force f = force_add(rigid_inertia_apply(I, A), force_cross(V, rigid_inertia_apply(I, motion_add(v, V))));
    return force_add(f, force_cross(v, rigid_inertia_apply(I, V)));
}

/* Adds the wrenches of the joints in the axes and about the origins of their child links. */
static void add_wrenches(const mechanism *m, const world_link *links, const force *f, real *wrenches) {
    for (int j = 0; j < m->model->joint_count; j++) {
        const body_frame *frame = &m->model->frames[m->model->joints[j].child_link];
        placement X =
            placement_compose(links[frame->body].X, placement_constant(frame->pose.rotation, frame->pose.position));
        vec3 n = vec3_sub(f[frame->body].n, vec3_cross(X.r, f[frame->body].f));
        vec3 turned[2] = {mat3_apply_transposed(X.R, n), mat3_apply_transposed(X.R, f[frame->body].f)};
        for (int k = 0; k < 2; k++) {
            real *to = wrenches + 6 * j + 3 * k;
            to[0] = to[0] + turned[k].x, to[1] = to[1] + turned[k].y, to[2] = to[2] + turned[k].z;
        }
    }
}

void KERNEL(base_forces)(const mechanism *m, const real *v, scratch *s, real *tau, real *wrenches) {
    mechanism resting = *m;
    resting.base_moves = 0;
    resting.base_velocity = motion_zero();
    resting.external = NULL;
    world_link *links = KERNEL(world_links)(&resting, v, s);
    force *f = (force *)scratch_take(s, (size_t)m->count, sizeof(force));
    if (!links) {
        return;
    }
    real_clear(tau, m->nv);
    for (int i = 0; i < m->count; i++) {
        f[i] = find_terms(m, links[i].I, links[i].v);
    }
    for (int i = m->count - 1; i >= 0; i--) {
        KERNEL(add_joint_force)(&links[i], f[i], tau);
        if (links[i].parent >= 0) {
            f[links[i].parent] = force_add(f[links[i].parent], f[i]);
        }
    }
    if (wrenches) {
        add_wrenches(m, links, f, wrenches);
    }
}
