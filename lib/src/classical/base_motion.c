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
 * An increment of coordinate k, with the column h_k, moves all links that its joint carries by the twist h_k, and with
 * them their columns: dh_j = h_k x h_j, dI_i x = h_k x* (I_i x) - I_i (h_k x x), dv_i = h_k x (v_i - v_p), where p is
 * the parent of the joint's link. These are the derivatives of tau_j = h_j . sum f_i; along v_k, dv_i = h_k alone. The
 * column of a custom joint depends on its coordinate, so that dh_k and dv_i gain dS/dq and dS/dq v_k.
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

/* Column of a joint, and the velocity of its parent. */
typedef struct moved_column {
    int link, v_index;
    motion h, parent;
    motion dh, own; /* dS/dq and dS/dq v of a custom joint, otherwise zero */
} moved_column;

/* Returns dI x of a link that moves by the twist h. */
static force turn_inertia(rigid_inertia I, motion h, motion x) {
    return force_sub(force_cross(h, rigid_inertia_apply(I, x)), rigid_inertia_apply(I, motion_cross(h, x)));
}

/* Returns the derivative of the terms of a link along its velocity v relative to the base, by dv. */
static force vary_velocity(const mechanism *m, rigid_inertia I, motion dv) {
    motion V = m->base_velocity;
    force f = force_add(rigid_inertia_apply(I, motion_cross(V, dv)), force_cross(V, rigid_inertia_apply(I, dv)));
    return force_add(f, force_cross(dv, rigid_inertia_apply(I, V)));
}

/* Returns the derivative of the terms of a link along a coordinate. */
static force vary_position(const mechanism *m, const world_link *l, const moved_column *c) {
    motion V = m->base_velocity, v = l->v, A = motion_add(m->base_acceleration, motion_cross(V, v));
    motion dv = motion_add(motion_cross(c->h, motion_fma(real_set(-1), c->parent, v)), c->own);
    force f = force_add(turn_inertia(l->I, c->h, A), force_cross(V, turn_inertia(l->I, c->h, motion_add(v, V))));
    return force_add(force_add(f, force_cross(v, turn_inertia(l->I, c->h, V))), vary_velocity(m, l->I, dv));
}

/* Adds the derivatives of tau along one column to matrices of nv columns. F are the wrenches of the joints; df is
 * scratch memory of two wrenches for each link. */
static void add_column(const mechanism *m, const world_link *links, const moved_column *c, const force *F, force *df,
                       real *dq, real *dv) {
    force *by_v = df + m->count;
    for (int i = 0; i < m->count; i++) {
        bool moves = mechanism_carries(m, c->link, i);
        df[i] = moves ? vary_position(m, &links[i], c) : force_zero();
        by_v[i] = moves ? vary_velocity(m, links[i].I, c->h) : force_zero();
    }
    for (int i = m->count - 1; i >= 0; i--) {
        const world_link *l = &links[i];
        bool moves = mechanism_carries(m, c->link, i);
        for (int k = 0; k < l->nv; k++) {
            int at = (l->v_index + k) * m->nv + c->v_index;
            dq[at] = dq[at] + spatial_dot(l->h[k], df[i]);
            dv[at] = dv[at] + spatial_dot(l->h[k], by_v[i]);
            if (moves) {
                motion dh = motion_cross(c->h, l->h[k]);
                dq[at] = dq[at] + spatial_dot(i == c->link ? motion_add(dh, c->dh) : dh, F[i]);
            }
        }
        if (l->parent >= 0) {
            df[l->parent] = force_add(df[l->parent], df[i]);
            by_v[l->parent] = force_add(by_v[l->parent], by_v[i]);
        }
    }
}

/* Returns column k of link i at the velocities v. */
static moved_column column_of(const mechanism *m, const world_link *links, int i, int k, const real *v) {
    const mechanism_link *l = &m->links[i];
    moved_column c;
    c.link = i, c.v_index = l->v_index + k;
    c.h = links[i].h[k];
    c.parent = l->parent >= 0 ? links[l->parent].v : motion_zero();
    c.dh = l->is_custom ? motion_to_parent(links[i].X, l->dS) : motion_zero();
    c.own = l->is_custom ? motion_fma(v[l->v_index], c.dh, motion_zero()) : motion_zero();
    return c;
}

void KERNEL(base_force_derivatives)(const mechanism *m, const real *v, scratch *s, real *dq, real *dv) {
    mechanism resting = *m;
    resting.base_moves = 0;
    resting.base_velocity = motion_zero();
    resting.external = NULL;
    world_link *links = KERNEL(world_links)(&resting, v, s);
    force *F = (force *)scratch_take(s, 3 * (size_t)m->count, sizeof(force));
    if (!links) {
        return;
    }
    real_clear(dq, m->nv * m->nv), real_clear(dv, m->nv * m->nv);
    for (int i = m->count - 1; i >= 0; i--) {
        F[i] = find_terms(m, links[i].I, links[i].v);
    }
    for (int i = m->count - 1; i >= 0; i--) {
        if (links[i].parent >= 0) {
            F[links[i].parent] = force_add(F[links[i].parent], F[i]);
        }
    }
    for (int i = 0; i < m->count; i++) {
        for (int k = 0; k < links[i].nv; k++) {
            const moved_column column = column_of(m, links, i, k, v);
            add_column(m, links, &column, F, F + m->count, dq, dv);
        }
    }
}

/* Adds the wrenches of the joints in the axes and about the origins of their child links. */
static void add_wrenches(const mechanism *m, const world_link *links, const force *f, real *wrenches) {
    for (int j = 0; j < m->model->joint_count; j++) {
        const body_frame *frame = &m->model->frames[m->model->joints[j].child_link];
        int i = mechanism_link_of(m->model, frame->body);
        placement X = placement_compose(links[i].X, placement_constant(frame->pose.rotation, frame->pose.position));
        vec3 n = vec3_sub(f[i].n, vec3_cross(X.r, f[i].f));
        vec3 turned[2] = {mat3_apply_transposed(X.R, n), mat3_apply_transposed(X.R, f[i].f)};
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
