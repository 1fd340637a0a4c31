/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Recursive Newton-Euler equations of motion, each link in its own frame.
 *
 * Outward, for link i with parent p; w is its angular velocity, dw its rate, dv the acceleration of its origin, all in
 * the axes of link i, and (z, d) the angular and linear rates S v of the joint, (dz, dd) their rates S a + dS/dt v:
 *     w_i   = R' w_p + z
 *     dw_i  = R' dw_p + dz + w_i x z
 *     dv_i  = R' (dv_p + dw_p x r + w_p x (w_p x r)) + dd + (2 w_i - z) x d
 *     a_c,i = dv_i + dw_i x s_i + w_i x (w_i x s_i)
 *     F_i   = m_i a_c,i                N_i = I_i dw_i + w_i x (I_i w_i)
 * Inward, over the children c of link i:
 *     f_i   = F_i + sum R_c f_c        n_i = N_i + s_i x F_i + sum (R_c n_c + r_c x R_c f_c)
 * less the external force on the link and its moment about the link's origin, and
 *     tau_i = S_i . (n_i; f_i)
 * The base accelerates upwards with -g in place of gravity.
 *
 * Source: Luh, Walker and Paul 1980; Fu, Gonzalez and Lee 1987, chapter 3, table 2 of a review of its three
 * formulations; Caron 2023, which prints two degrees of freedom for a spherical joint in place of three. Extended to
 * trees and to joints with several coordinates, of which a rotational link has z = (0, 0, 1) v and d = 0, a
 * translational one the reverse. The chapter attaches frame i to the far end of link i, so its R turns the joint forces
 * by one link more; here the frame is at joint i, as in later books. Its viscous term b_i v_i is a block of its own,
 * since rigid-body dynamics does not include it; passive forces of a request add it to the joint force. Equation 2.15
 * and tables 1 and 2 give g opposite signs: there gravity, here, as in the tables, the acceleration of the base.
 */
#include "formulation.h"

/* Quantities of the links, in their axes. */
typedef struct link_arrays {
    vec3 *w, *dw, *dv, *ac, *F, *N;
    force *f;        /* wrench that joint i transmits: n_i, then f_i */
    vec3 *n_i, *f_i; /* its two parts, as blocks */
    real *viscous;
} link_arrays;

static link_arrays take_arrays(const mechanism *m, scratch *s) {
    link_arrays t;
    size_t count = (size_t)m->count;
    t.w = (vec3 *)scratch_take(s, count, sizeof(vec3));
    t.dw = (vec3 *)scratch_take(s, count, sizeof(vec3));
    t.dv = (vec3 *)scratch_take(s, count, sizeof(vec3));
    t.ac = (vec3 *)scratch_take(s, count, sizeof(vec3));
    t.F = (vec3 *)scratch_take(s, count, sizeof(vec3));
    t.N = (vec3 *)scratch_take(s, count, sizeof(vec3));
    t.f = (force *)scratch_take(s, count, sizeof(force));
    t.n_i = (vec3 *)scratch_take(s, count, sizeof(vec3));
    t.f_i = (vec3 *)scratch_take(s, count, sizeof(vec3));
    t.viscous = scratch_reals(s, (size_t)m->nv);
    return t;
}

static void reserve(const mechanism *m, scratch *s) {
    take_arrays(m, s);
}

/* Computes the motion of link i from that of its parent. */
static void propagate(const mechanism *m, link_arrays t, int i, const real *v, const real *a) {
    const mechanism_link *l = &m->links[i];
    vec3 w = vec3_zero(), dw = vec3_zero(), dv = vec3_scale(real_set(-1), m->gravity);
    if (l->parent >= 0) {
        w = t.w[l->parent], dw = t.dw[l->parent], dv = t.dv[l->parent];
    } else if (m->base_moves) {
        w = m->base_velocity.w, dw = m->base_acceleration.w;
        dv = vec3_add(dv, vec3_add(m->base_acceleration.v, vec3_cross(w, m->base_velocity.v)));
    }
    if (l->parent >= 0 || m->base_moves) {
        dv = vec3_add(dv, vec3_add(vec3_cross(dw, l->X.r), vec3_cross(w, vec3_cross(w, l->X.r))));
    }
    motion rate = mechanism_rate(m, i, v), change = mechanism_change(m, i, v, a);
    vec3 carried = mat3_apply_transposed(l->X.R, w);
    t.w[i] = vec3_add(carried, rate.w);
    t.dw[i] = vec3_add(vec3_add(mat3_apply_transposed(l->X.R, dw), change.w), vec3_cross(t.w[i], rate.w));
    t.dv[i] =
        vec3_add(vec3_add(mat3_apply_transposed(l->X.R, dv), change.v), vec3_cross(vec3_add(carried, t.w[i]), rate.v));
}

/* Computes a_c, and F and N, the force and the moment about the centre of mass that move link i. */
static void apply_newton_and_euler(const mechanism *m, link_arrays t, int i) {
    const mechanism_link *l = &m->links[i];
    vec3 w = t.w[i];
    t.ac[i] = vec3_add(t.dv[i], vec3_add(vec3_cross(t.dw[i], l->center), vec3_cross(w, vec3_cross(w, l->center))));
    t.F[i] = vec3_scale(l->mass, t.ac[i]);
    t.N[i] = vec3_add(sym3_apply(l->central, t.dw[i]), vec3_cross(w, sym3_apply(l->central, w)));
}

static void compute_forces(const mechanism *m, link_arrays t, const real *v, const real *a, real *tau) {
    for (int i = 0; i < m->count; i++) {
        propagate(m, t, i, v, a);
        apply_newton_and_euler(m, t, i);
        t.f[i] = force_set(vec3_add(t.N[i], vec3_cross(m->links[i].center, t.F[i])), t.F[i]);
        t.f[i] = mechanism_subtract_external(m, i, t.f[i]);
    }
    for (int i = m->count - 1; i >= 0; i--) {
        const mechanism_link *l = &m->links[i];
        mechanism_add_force(m, i, t.f[i], tau);
        if (l->parent >= 0) {
            t.f[l->parent] = force_add(t.f[l->parent], force_to_parent(l->X, t.f[i]));
        }
    }
}

static void inverse(const mechanism *m, scratch *s, const real *v, const real *a, real *tau) {
    compute_forces(m, take_arrays(m, s), v, a, tau);
}

static void coefficients(const mechanism *m, scratch *s, const real *v, const real *a, block_list *blocks) {
    link_arrays t = take_arrays(m, s);
    int n = m->count;
    real_clear(t.viscous, m->nv);
    compute_forces(m, t, v, a, t.viscous);
    KERNEL(mechanism_viscous)(m, v, t.viscous);
    KERNEL(add_block)(blocks, "w", block_of(n, 3, 0, 0), t.w);
    KERNEL(add_block)(blocks, "dw", block_of(n, 3, 0, 0), t.dw);
    KERNEL(add_block)
    (blocks, "dv", block_of(n, 3, 0, 0), t.dv);
    KERNEL(add_block)(blocks, "a_c", block_of(n, 3, 0, 0), t.ac);
    KERNEL(add_block)(blocks, "F", block_of(n, 3, 0, 0), t.F);
    KERNEL(add_block)
    (blocks, "N", block_of(n, 3, 0, 0), t.N);
    mechanism_split(m, t.f, t.n_i, t.f_i);
    KERNEL(add_block)(blocks, "f", block_of(n, 3, 0, 0), t.f_i);
    KERNEL(add_block)(blocks, "n", block_of(n, 3, 0, 0), t.n_i);
    KERNEL(add_block)
    (blocks, "viscous", block_of(m->nv, 0, 0, 0), t.viscous);
}

const formulation KERNEL(newton_euler) = {
    {"newton_euler", "Luh, Walker and Paul 1980; Fu, Gonzalez and Lee 1987, chapter 3", 0, 1000, true, false, false,
     true},
    reserve,
    inverse,
    NULL,
    NULL,
    coefficients,
};
