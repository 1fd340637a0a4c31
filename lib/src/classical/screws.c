/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Inverse and O(N) forward dynamics with screws, for trees. A motion screw is (w; v), a force screw (n; f); h_i spans
 * the motions of joint i, and X maps motions of the parent p to link i.
 *     v_i = X v_p + h_i v        c_i = v_i x h_i v + dh_i/dt v        a_i = X a_p + h_i a + c_i              (1, 2, 4)
 *     f_i = I_i a_i + Z_i + sum over the children of X' f_c           tau_i = h_i' f_i
 *     Z_i = v_i x* I_i v_i - (weight of the link)
 * Forward dynamics writes f_i = IA_i a_i + ZA_i with the articulated inertia IA and the articulated zero-acceleration
 * force ZA of link i and its descendants (5). Inward, with D = h' IA h:
 *     IA_p += X' (IA - IA h D^-1 h' IA) X                                                                        (13)
 *     ZA_p += X' (ZA + IA c + IA h D^-1 (tau - h' (ZA + IA c)))                                                  (14)
 * and outward a = D^-1 (tau - h' (IA (X a_p + c) + ZA)) (11, 15).
 *
 * Gravity is the force -m g on each link, as in the paper: the base does not accelerate. h_i may have up to six
 * columns; D then is a matrix.
 *
 * Source: Shao and Yuan 2012. Equation 14 of the paper has the sign of tau and of h' (ZA + IA c) as here. Its table 1
 * prints 2567 and 18948 operations for Walker and Orin, which its own formula does not give: 2576 for N = 6, and no
 * integer for N = 17.
 */
#include "formulation.h"
#include "linear.h"

enum { MOST_COLUMNS = 6 };

/* Quantities of the links, as above, in link axes. */
typedef struct screw_arrays {
    motion *v, *c, *a;
    vec3 *g; /* acceleration of gravity in link axes */
    force *Z, *f, *ZA;
    articulated_inertia *IA;
    force *U;                  /* IA h: at the coordinates of each joint */
    real *D;                   /* D^-1, 6 x 6 for each link; only its first nv x nv numbers are used */
    real *tau, *result, *full; /* forces, accelerations and 6 x 6 inertias of `coefficients` */
} screw_arrays;

static screw_arrays take_arrays(const mechanism *m, scratch *s) {
    screw_arrays t;
    size_t n = (size_t)m->count;
    t.v = (motion *)scratch_take(s, n, sizeof(motion));
    t.c = (motion *)scratch_take(s, n, sizeof(motion));
    t.a = (motion *)scratch_take(s, n, sizeof(motion));
    t.g = (vec3 *)scratch_take(s, n, sizeof(vec3));
    t.Z = (force *)scratch_take(s, n, sizeof(force));
    t.f = (force *)scratch_take(s, n, sizeof(force));
    t.ZA = (force *)scratch_take(s, n, sizeof(force));
    t.IA = (articulated_inertia *)scratch_take(s, n, sizeof(articulated_inertia));
    t.U = (force *)scratch_take(s, n * MOST_COLUMNS, sizeof(force));
    t.D = scratch_reals(s, n * MOST_COLUMNS * MOST_COLUMNS);
    t.tau = scratch_reals(s, (size_t)m->nv);
    t.result = scratch_reals(s, (size_t)m->nv);
    t.full = scratch_reals(s, n * 36);
    return t;
}

static void reserve(const mechanism *m, scratch *s) {
    take_arrays(m, s);
}

/* Computes v, c and Z, from the base outward. */
static void compute_velocities(const mechanism *m, screw_arrays t, const real *v) {
    for (int i = 0; i < m->count; i++) {
        const mechanism_link *l = &m->links[i];
        motion rate = mechanism_rate(m, i, v);
        vec3 g = l->parent >= 0 ? t.g[l->parent] : m->gravity;
        t.v[i] = l->parent >= 0 ? motion_add(motion_to_child(l->X, t.v[l->parent]), rate) : rate;
        t.c[i] = mechanism_add_bias(m, i, v, motion_cross(t.v[i], rate));
        t.g[i] = mat3_apply_transposed(l->X.R, g);
        force weight = force_set(vec3_cross(l->I.h, t.g[i]), vec3_scale(l->mass, t.g[i]));
        t.Z[i] = force_sub(force_cross(t.v[i], rigid_inertia_apply(l->I, t.v[i])), weight);
        t.Z[i] = mechanism_subtract_external(m, i, t.Z[i]);
    }
}

/* Computes X a_p + c, the acceleration of link i at zero acceleration of its joint. */
static motion carried_acceleration(const mechanism *m, screw_arrays t, int i) {
    const mechanism_link *l = &m->links[i];
    return l->parent >= 0 ? motion_add(motion_to_child(l->X, t.a[l->parent]), t.c[i]) : t.c[i];
}

static void compute_forces(const mechanism *m, screw_arrays t, const real *v, const real *a, real *tau) {
    compute_velocities(m, t, v);
    for (int i = 0; i < m->count; i++) {
        t.a[i] = motion_add(carried_acceleration(m, t, i), mechanism_rate(m, i, a));
        t.f[i] = force_add(rigid_inertia_apply(m->links[i].I, t.a[i]), t.Z[i]);
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

/* Computes U = IA h and D^-1 of joint i. */
static void factorize_joint(const mechanism *m, screw_arrays t, int i) {
    int nv = m->links[i].nv;
    force *U = t.U + i * MOST_COLUMNS;
    real D[MOST_COLUMNS * MOST_COLUMNS], *inverse_of_D = t.D + i * MOST_COLUMNS * MOST_COLUMNS;
    for (int k = 0; k < nv; k++) {
        U[k] = articulated_apply(t.IA[i], mechanism_column(m, i, k));
        for (int l = 0; l <= k; l++) {
            D[k * nv + l] = mechanism_force(m, i, l, U[k]);
        }
    }
    KERNEL(factorize_symmetric)(nv, D);
    KERNEL(invert_symmetric)(nv, D, inverse_of_D);
}

/* Computes W_k, column k of IA h D^-1. */
static force gain_column(const mechanism *m, screw_arrays t, int i, int k) {
    int nv = m->links[i].nv;
    const real *inverse_of_D = t.D + i * MOST_COLUMNS * MOST_COLUMNS;
    force W = force_zero();
    for (int l = 0; l < nv; l++) {
        W = force_fma(inverse_of_D[k * nv + l], t.U[i * MOST_COLUMNS + l], W);
    }
    return W;
}

/* Adds the articulated inertia and zero-acceleration force of link i to those of its parent (equations 13 and 14). */
static void carry_inward(const mechanism *m, screw_arrays t, int i, const real *tau) {
    const mechanism_link *l = &m->links[i];
    articulated_inertia I = t.IA[i];
    force bias = force_add(t.ZA[i], articulated_apply(I, t.c[i])), Z = bias;
    for (int k = 0; k < l->nv; k++) {
        force W = gain_column(m, t, i, k);
        I = articulated_downdate(I, t.U[i * MOST_COLUMNS + k], W);
        Z = force_fma(tau[l->v_index + k] - mechanism_force(m, i, k, bias), W, Z);
    }
    t.IA[l->parent] = articulated_add(t.IA[l->parent], articulated_to_parent(l->X, I));
    t.ZA[l->parent] = force_add(t.ZA[l->parent], force_to_parent(l->X, Z));
}

/* Computes the accelerations of joint i and of its link (equations 11 and 15). */
static void accelerate(const mechanism *m, screw_arrays t, int i, const real *tau, real *a) {
    const mechanism_link *l = &m->links[i];
    const real *inverse_of_D = t.D + i * MOST_COLUMNS * MOST_COLUMNS;
    t.a[i] = carried_acceleration(m, t, i);
    force resisted = force_add(articulated_apply(t.IA[i], t.a[i]), t.ZA[i]);
    real_clear(a + l->v_index, l->nv);
    for (int k = 0; k < l->nv; k++) {
        real rest = tau[l->v_index + k] - mechanism_force(m, i, k, resisted);
        for (int j = 0; j < l->nv; j++) {
            a[l->v_index + j] += inverse_of_D[j * l->nv + k] * rest;
        }
    }
    t.a[i] = motion_add(t.a[i], mechanism_rate(m, i, a));
}

static void compute_accelerations(const mechanism *m, screw_arrays t, const real *v, const real *tau, real *a) {
    compute_velocities(m, t, v);
    for (int i = 0; i < m->count; i++) {
        t.IA[i] = articulated_from_rigid(m->links[i].I);
        t.ZA[i] = t.Z[i];
    }
    for (int i = m->count - 1; i >= 0; i--) {
        factorize_joint(m, t, i);
        if (m->links[i].parent >= 0) {
            carry_inward(m, t, i, tau);
        }
    }
    for (int i = 0; i < m->count; i++) {
        accelerate(m, t, i, tau, a);
    }
}

static void forward(const mechanism *m, scratch *s, const real *v, const real *tau, real *a) {
    compute_accelerations(m, take_arrays(m, s), v, tau, a);
}

/* Writes an articulated inertia as a 6 x 6 matrix, whose columns are the forces of unit accelerations. */
static void write_inertia(articulated_inertia I, real *out) {
    for (int j = 0; j < 6; j++) {
        force f = articulated_apply(I, axis_motion((spatial_axis)j));
        const real column[6] = {f.n.x, f.n.y, f.n.z, f.f.x, f.f.y, f.f.z};
        for (int i = 0; i < 6; i++) {
            out[6 * i + j] = column[i];
        }
    }
}

static void coefficients(const mechanism *m, scratch *s, const real *v, const real *a, block_list *blocks) {
    screw_arrays t = take_arrays(m, s);
    int n = m->count;
    real_clear(t.tau, m->nv);
    compute_forces(m, t, v, a, t.tau);
    compute_accelerations(m, t, v, t.tau, t.result);
    for (int i = 0; i < n; i++) {
        write_inertia(t.IA[i], t.full + 36 * i);
    }
    KERNEL(add_block)(blocks, "v", block_of(n, 6, 0, 0), t.v);
    KERNEL(add_block)(blocks, "c", block_of(n, 6, 0, 0), t.c);
    KERNEL(add_block)(blocks, "a", block_of(n, 6, 0, 0), t.a);
    KERNEL(add_block)(blocks, "Z", block_of(n, 6, 0, 0), t.Z);
    KERNEL(add_block)(blocks, "f", block_of(n, 6, 0, 0), t.f);
    KERNEL(add_block)(blocks, "IA", block_of(n, 6, 6, 0), t.full);
    KERNEL(add_block)(blocks, "ZA", block_of(n, 6, 0, 0), t.ZA);
}

const formulation KERNEL(screws) = {
    {"screws", "Shao and Yuan 2012, equations 1 to 15", DYN_FORMULATION_NEED_INDEPENDENT, 1000, true, true, false,
     true},
    reserve,
    inverse,
    forward,
    NULL,
    coefficients,
};
