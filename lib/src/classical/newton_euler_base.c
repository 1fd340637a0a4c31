/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Recursive Newton-Euler equations of motion with all vectors in the axes of the base.
 *
 * The equations are those of newton_euler.c without its rotations: p*_i, the position of link i relative to its parent,
 * s_i, the centre of mass, and the inertia I_i are turned to the base instead, and so change with the configuration.
 *     w_i   = w_p + z                  dw_i = dw_p + dz + w_i x z
 *     dv_i  = dv_p + dw_p x p*_i + w_p x (w_p x p*_i) + dd + (2 w_i - z) x d
 *     F_i   = m_i (dv_i + dw_i x s_i + w_i x (w_i x s_i))          N_i = I_i dw_i + w_i x (I_i w_i)
 *     f_i   = F_i + sum f_c            n_i = N_i + s_i x F_i + sum (n_c + p*_c x f_c)
 *
 * Source: Luh, Walker and Paul 1980; Fu, Gonzalez and Lee 1987, chapter 3, table 1 of a review of its three
 * formulations; extended to trees and to joints with several coordinates. The base accelerates upwards with -g in
 * place of gravity.
 */
#include "formulation.h"

/* Quantities of the links, in base axes. */
typedef struct base_arrays {
    placement *X; /* placements of the links in the base */
    vec3 *w, *dw, *dv, *F, *N;
    force *f;        /* wrench that joint i transmits: n_i, then f_i */
    vec3 *n_i, *f_i; /* its two parts, as blocks */
    real *tau;
} base_arrays;

static base_arrays take_arrays(const mechanism *m, scratch *s) {
    base_arrays t;
    size_t count = (size_t)m->count;
    t.X = (placement *)scratch_take(s, count, sizeof(placement));
    t.w = (vec3 *)scratch_take(s, count, sizeof(vec3));
    t.dw = (vec3 *)scratch_take(s, count, sizeof(vec3));
    t.dv = (vec3 *)scratch_take(s, count, sizeof(vec3));
    t.F = (vec3 *)scratch_take(s, count, sizeof(vec3));
    t.N = (vec3 *)scratch_take(s, count, sizeof(vec3));
    t.f = (force *)scratch_take(s, count, sizeof(force));
    t.n_i = (vec3 *)scratch_take(s, count, sizeof(vec3));
    t.f_i = (vec3 *)scratch_take(s, count, sizeof(vec3));
    t.tau = scratch_reals(s, (size_t)m->nv);
    return t;
}

static void reserve(const mechanism *m, scratch *s) {
    take_arrays(m, s);
}

/* Turns both parts of a motion to base axes. */
static motion turn(placement X, motion m) {
    return motion_set(mat3_apply(X.R, m.w), mat3_apply(X.R, m.v));
}

/* Returns p*_i, the position of link i relative to its parent. */
static vec3 position_in_parent(const mechanism *m, base_arrays t, int i) {
    int parent = m->links[i].parent;
    return parent >= 0 ? vec3_sub(t.X[i].r, t.X[parent].r) : t.X[i].r;
}

static void propagate(const mechanism *m, base_arrays t, int i, const real *v, const real *a) {
    const mechanism_link *l = &m->links[i];
    vec3 w = vec3_zero(), dw = vec3_zero(), dv = vec3_scale(real_set(-1), m->gravity);
    t.X[i] = l->X;
    if (l->parent >= 0) {
        w = t.w[l->parent], dw = t.dw[l->parent], dv = t.dv[l->parent];
        t.X[i] = placement_compose(t.X[l->parent], l->X);
    }
    motion rate = turn(t.X[i], mechanism_rate(m, i, v)), change = turn(t.X[i], mechanism_change(m, i, v, a));
    vec3 p = position_in_parent(m, t, i);
    t.w[i] = vec3_add(w, rate.w);
    t.dw[i] = vec3_add(vec3_add(dw, change.w), vec3_cross(t.w[i], rate.w));
    dv = vec3_add(dv, vec3_add(vec3_cross(dw, p), vec3_cross(w, vec3_cross(w, p))));
    t.dv[i] = vec3_add(vec3_add(dv, change.v), vec3_cross(vec3_add(w, t.w[i]), rate.v));
}

/* Computes F_i, N_i, and the wrench of the link alone about its origin, less the external one. */
static void apply_newton_and_euler(const mechanism *m, base_arrays t, int i) {
    const mechanism_link *l = &m->links[i];
    vec3 w = t.w[i], s = mat3_apply(t.X[i].R, l->center);
    sym3 I = sym3_rotate(t.X[i].R, l->central);
    vec3 ac = vec3_add(t.dv[i], vec3_add(vec3_cross(t.dw[i], s), vec3_cross(w, vec3_cross(w, s))));
    t.F[i] = vec3_scale(l->mass, ac);
    t.N[i] = vec3_add(sym3_apply(I, t.dw[i]), vec3_cross(w, sym3_apply(I, w)));
    t.f[i] = force_set(vec3_add(t.N[i], vec3_cross(s, t.F[i])), t.F[i]);
    if (m->external) {
        force e = m->external[i];
        t.f[i] = force_sub(t.f[i], force_set(mat3_apply(t.X[i].R, e.n), mat3_apply(t.X[i].R, e.f)));
    }
}

static void compute_forces(const mechanism *m, base_arrays t, const real *v, const real *a, real *tau) {
    for (int i = 0; i < m->count; i++) {
        propagate(m, t, i, v, a);
        apply_newton_and_euler(m, t, i);
    }
    for (int i = m->count - 1; i >= 0; i--) {
        int parent = m->links[i].parent;
        force f = t.f[i];
        mat3 R = t.X[i].R;
        mechanism_add_force(m, i, force_set(mat3_apply_transposed(R, f.n), mat3_apply_transposed(R, f.f)), tau);
        if (parent >= 0) {
            f.n = vec3_add(f.n, vec3_cross(position_in_parent(m, t, i), f.f));
            t.f[parent] = force_add(t.f[parent], f);
        }
    }
}

static void inverse(const mechanism *m, scratch *s, const real *v, const real *a, real *tau) {
    compute_forces(m, take_arrays(m, s), v, a, tau);
}

static void coefficients(const mechanism *m, scratch *s, const real *v, const real *a, block_list *blocks) {
    base_arrays t = take_arrays(m, s);
    const block_shape vectors = block_of(m->count, 3, 0, 0);
    real_clear(t.tau, m->nv);
    compute_forces(m, t, v, a, t.tau);
    KERNEL(add_block)(blocks, "w", vectors, t.w);
    KERNEL(add_block)(blocks, "dw", vectors, t.dw);
    KERNEL(add_block)(blocks, "dv", vectors, t.dv);
    KERNEL(add_block)(blocks, "F", vectors, t.F);
    KERNEL(add_block)
    (blocks, "N", vectors, t.N);
    mechanism_split(m, t.f, t.n_i, t.f_i);
    KERNEL(add_block)(blocks, "f", vectors, t.f_i);
    KERNEL(add_block)(blocks, "n", vectors, t.n_i);
    KERNEL(mechanism_viscous)(m, v, t.tau);
    KERNEL(add_block)(blocks, "viscous", block_of(m->nv, 0, 0, 0), t.tau);
}

const formulation KERNEL(newton_euler_base) = {
    {"newton_euler_base", "Luh, Walker and Paul 1980; Fu, Gonzalez and Lee 1987, chapter 3", 0, 1000, true, false,
     false, true},
    reserve,
    inverse,
    NULL,
    NULL,
    coefficients,
};
