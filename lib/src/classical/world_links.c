/* SPDX-License-Identifier: BSD-2-Clause */
#include "world_links.h"

force KERNEL(world_external)(const mechanism *m, const world_link *l, int i) {
    return force_to_parent(l->X, m->external[i]);
}

static void place(const mechanism *m, int i, const real *v, world_link *links) {
    const mechanism_link *l = &m->links[i];
    world_link *w = &links[i];
    const world_link *parent = l->parent < 0 ? NULL : &links[l->parent];
    w->parent = l->parent, w->v_index = l->v_index, w->nv = l->nv;
    w->X = parent ? placement_compose(parent->X, l->X) : l->X;
    for (int k = 0; k < l->nv; k++) {
        w->h[k] = motion_to_parent(w->X, mechanism_column(m, i, k));
    }
    w->I = rigid_inertia_to_parent(w->X, l->I);
    w->v = parent ? parent->v : m->base_velocity;
    w->c = motion_zero();
    if (v) {
        motion rate = KERNEL(world_rate)(w, v + l->v_index);
        w->v = motion_add(w->v, rate);
        w->c = motion_cross(w->v, rate);
        w->c = l->is_custom ? motion_fma(v[l->v_index] * v[l->v_index], motion_to_parent(w->X, l->dS), w->c) : w->c;
    }
    w->p = force_cross(w->v, rigid_inertia_apply(w->I, w->v));
    if (m->external) {
        w->p = force_sub(w->p, KERNEL(world_external)(m, w, i));
    }
}

world_link *KERNEL(world_links)(const mechanism *m, const real *v, scratch *s) {
    world_link *links = (world_link *)scratch_take(s, (size_t)m->count, sizeof(world_link));
    if (links) {
        for (int i = 0; i < m->count; i++) {
            place(m, i, v, links);
        }
    }
    return links;
}

motion KERNEL(world_rate)(const world_link *l, const real *x) {
    motion sum = motion_zero();
    for (int k = 0; k < l->nv; k++) {
        sum = motion_fma(x[k], l->h[k], sum);
    }
    return sum;
}

void KERNEL(world_jacobians)(const mechanism *m, const world_link *links, matrix S) {
    KERNEL(matrix_clear)(S);
    for (int i = 0; i < m->count; i++) {
        const world_link *l = &links[i];
        for (int r = 0; l->parent >= 0 && r < 6; r++) {
            for (int k = 0; k < m->nv; k++) {
                *matrix_at(S, 6 * i + r, k) = *matrix_at(S, 6 * l->parent + r, k);
            }
        }
        for (int k = 0; k < l->nv; k++) {
            matrix column = matrix_block(S, 6 * i, l->v_index + k, 6, 1);
            KERNEL(matrix_set_motion)(column, motion_add(KERNEL(matrix_motion)(column), l->h[k]));
        }
    }
}

motion KERNEL(base_acceleration)(const mechanism *m) {
    motion base = motion_set(vec3_zero(), vec3_scale(real_set(-1), m->gravity));
    return m->base_moves ? motion_add(base, m->base_acceleration) : base;
}

void KERNEL(add_joint_force)(const world_link *l, force f, real *tau) {
    for (int k = 0; k < l->nv; k++) {
        tau[l->v_index + k] = tau[l->v_index + k] + spatial_dot(l->h[k], f);
    }
}

void KERNEL(world_newton_euler)(const mechanism *m, const world_link *links, const real *a, motion *A, force *f,
                                real *tau) {
    for (int i = 0; i < m->count; i++) {
        const world_link *l = &links[i];
        motion before = l->parent < 0 ? KERNEL(base_acceleration)(m) : A[l->parent];
        A[i] = motion_add(before, motion_add(l->c, KERNEL(world_rate)(l, a + l->v_index)));
        f[i] = force_add(rigid_inertia_apply(l->I, A[i]), l->p);
    }
    for (int i = m->count - 1; i >= 0; i--) {
        const world_link *l = &links[i];
        KERNEL(add_joint_force)(l, f[i], tau);
        if (l->parent >= 0) {
            f[l->parent] = force_add(f[l->parent], f[i]);
        }
    }
}
