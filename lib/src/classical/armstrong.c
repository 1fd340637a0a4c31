/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Armstrong's forward dynamics, the first of O(n) in robotics: trees of spherical joints. A spherical joint transmits
 * any force and the known moment tau_i. So its subtree answers to the acceleration a_i of its origin alone:
 *     dw_i = K_i a_i + d_i          f_i = M_i a_i + f'_i
 * where f_i is the force in the joint. From the tips to the base, over the children s of link i at l_s, with M_s, f'_s
 * and tau_s in the axes of link i, h = m c, J about the origin of the link, and gamma_s = w x (w x l_s):
 *     T    = J - sum of l_s~ M_s l_s~
 *     B    = h~ + sum of l_s~ M_s
 *     e    = w x J w + sum of (tau_s + l_s x (M_s gamma_s + f'_s))
 *     K    = -T^-1 B                          d  = T^-1 (tau_i - e)
 *     M_i  = m 1 + sum of M_s + B' K          f' = B' d + w x (w x h) + sum of (M_s gamma_s + f'_s)
 * From the base to the tips
 *     a_s = a_i + dw_i x l_s + gamma_s
 * The base accelerates upwards with -g in place of gravity. A floating root has no joint: M a + f' is the force that
 * acts on it, which yields a.
 *
 * Source: Armstrong 1979; Featherstone and Orin 2000, section 2, which names the method only: the equations follow from
 * those of Newton and Euler for a link.
 */
#include "formulation.h"
#include "linear.h"

/* Quantities of the links, as above; dw is the angular acceleration. */
typedef struct arrays {
    mat3 *K, *M;
    vec3 *w, *d, *f, *a, *dw;
    mat3 *T; /* T^-1 once K is known */
    mat3 *B;
    vec3 *e;         /* e; until d is known, f holds the part of f' without B' d */
    real *tau, *ddq; /* forces and accelerations of the joints, for the inner quantities */
} arrays;

static vec3 *take_vectors(const mechanism *m, scratch *s) {
    return (vec3 *)scratch_take(s, (size_t)m->count, sizeof(vec3));
}

static mat3 *take_matrices(const mechanism *m, scratch *s) {
    return (mat3 *)scratch_take(s, (size_t)m->count, sizeof(mat3));
}

static arrays take(const mechanism *m, scratch *s) {
    arrays x;
    x.K = take_matrices(m, s), x.M = take_matrices(m, s);
    x.T = take_matrices(m, s), x.B = take_matrices(m, s);
    x.w = take_vectors(m, s), x.d = take_vectors(m, s), x.f = take_vectors(m, s);
    x.a = take_vectors(m, s), x.dw = take_vectors(m, s), x.e = take_vectors(m, s);
    x.tau = scratch_reals(s, (size_t)m->nv), x.ddq = scratch_reals(s, (size_t)m->nv);
    return x;
}

static void reserve(const mechanism *m, scratch *s) {
    take(m, s);
    KERNEL(newton_euler).reserve(m, s);
}

/* Returns the angular part of x, nv numbers of all joints, for joint i. */
static vec3 angular_part(const mechanism *m, int i, const real *x) {
    return mechanism_rate(m, i, x).w;
}

static mat3 scaled_identity(real x) {
    real zero = real_set(0);
    return mat3_from_columns(vec3_set(x, zero, zero), vec3_set(zero, x, zero), vec3_set(zero, zero, x));
}

/* Returns -A x~. */
static mat3 minus_times_cross(mat3 A, vec3 x) {
    return mat3_transpose(mat3_cross(x, mat3_transpose(A)));
}

static mat3 invert(mat3 A) {
    real factors[9] = {A.xx, A.xy, A.xz, A.yx, A.yy, A.yz, A.zx, A.zy, A.zz}, I[9];
    KERNEL(factorize_symmetric)(3, factors);
    KERNEL(invert_symmetric)(3, factors, I);
    return mat3_from_columns(vec3_set(I[0], I[3], I[6]), vec3_set(I[1], I[4], I[7]), vec3_set(I[2], I[5], I[8]));
}

static mat3 negative(mat3 A) {
    return mat3_sub(scaled_identity(real_set(0)), A);
}

static vec3 centripetal(vec3 w, vec3 l) {
    return vec3_cross(w, vec3_cross(w, l));
}

/* Computes the angular velocity of link i, and starts the sums for T, B, M, e and f' with its own terms. */
static void start(const mechanism *m, const arrays *x, int i, const real *v) {
    const mechanism_link *l = &m->links[i];
    vec3 own = angular_part(m, i, v);
    x->w[i] = l->parent < 0 ? own : vec3_add(mat3_apply_transposed(l->X.R, x->w[l->parent]), own);
    x->T[i] = sym3_full(l->I.I);
    x->B[i] = mat3_cross(l->I.h, scaled_identity(real_set(1)));
    x->M[i] = scaled_identity(l->I.m);
    x->e[i] = vec3_cross(x->w[i], sym3_apply(l->I.I, x->w[i]));
    x->f[i] = centripetal(x->w[i], l->I.h);
}

/* Adds the terms of link s to the sums of its parent i. */
static void add_child(const mechanism *m, const arrays *x, int s, const real *tau) {
    const mechanism_link *l = &m->links[s];
    int i = l->parent;
    mat3 M = mat3_rotate(l->X.R, x->M[s]), lM = mat3_cross(l->X.r, M);
    vec3 push = vec3_add(mat3_apply(M, centripetal(x->w[i], l->X.r)), mat3_apply(l->X.R, x->f[s]));
    vec3 moment = mat3_apply(l->X.R, angular_part(m, s, tau));
    x->T[i] = mat3_add(x->T[i], minus_times_cross(lM, l->X.r));
    x->B[i] = mat3_add(x->B[i], lM);
    x->M[i] = mat3_add(x->M[i], M);
    x->e[i] = vec3_add(x->e[i], vec3_add(moment, vec3_cross(l->X.r, push)));
    x->f[i] = vec3_add(x->f[i], push);
}

/* Computes K, d, M and f' of link i from the sums, which contain all its children. */
static void finish(const mechanism *m, const arrays *x, int i, const real *tau) {
    mat3 inverse = invert(x->T[i]), transposed = mat3_transpose(x->B[i]);
    x->K[i] = negative(mat3_multiply(inverse, x->B[i]));
    x->d[i] = mat3_apply(inverse, vec3_sub(angular_part(m, i, tau), x->e[i]));
    x->M[i] = mat3_add(x->M[i], mat3_multiply(transposed, x->K[i]));
    x->f[i] = vec3_add(x->f[i], mat3_apply(transposed, x->d[i]));
}

/* Returns the acceleration of the origin of a floating root on which the force `acts`. */
static vec3 root_acceleration(const arrays *x, vec3 acts) {
    return mat3_apply(invert(x->M[0]), vec3_sub(acts, x->f[0]));
}

/* Computes a and dw of link i from those of its parent, and the accelerations of its joint. */
static void accelerate(const mechanism *m, const arrays *x, int i, const real *v, const real *tau, real *a) {
    const mechanism_link *l = &m->links[i];
    vec3 rise = vec3_scale(real_set(-1), m->gravity), turn = vec3_zero();
    motion rate = mechanism_rate(m, i, v);
    if (l->parent >= 0) {
        int p = l->parent;
        vec3 shift = vec3_add(vec3_cross(x->dw[p], l->X.r), centripetal(x->w[p], l->X.r));
        rise = vec3_add(x->a[p], shift);
        turn = mat3_apply_transposed(l->X.R, x->dw[p]);
    }
    rise = mat3_apply_transposed(l->X.R, rise);
    x->a[i] = l->nv == 6 ? root_acceleration(x, mechanism_rate(m, i, tau).v) : rise;
    x->dw[i] = vec3_add(mat3_apply(x->K[i], x->a[i]), x->d[i]);
    vec3 angular = vec3_sub(vec3_sub(x->dw[i], turn), vec3_cross(x->w[i], rate.w));
    vec3 linear = vec3_sub(vec3_sub(x->a[i], rise), vec3_cross(x->w[i], rate.v));
    /* The columns of joints are coordinate axes, so that their scalar products with a vector are its components. */
    force both = force_set(angular, linear);
    for (int k = 0; k < l->nv; k++) {
        a[l->v_index + k] = spatial_dot(mechanism_column(m, i, k), both);
    }
}

static void recur(const mechanism *m, const arrays *x, const real *v, const real *tau, real *a) {
    for (int i = 0; i < m->count; i++) {
        start(m, x, i, v);
    }
    for (int i = m->count - 1; i >= 0; i--) {
        finish(m, x, i, tau);
        if (m->links[i].parent >= 0) {
            add_child(m, x, i, tau);
        }
    }
    for (int i = 0; i < m->count; i++) {
        accelerate(m, x, i, v, tau, a);
    }
}

static void forward(const mechanism *m, scratch *s, const real *v, const real *tau, real *a) {
    arrays x = take(m, s);
    recur(m, &x, v, tau, a);
}

/* Computes the inner quantities for the forces of the motion a, which are those of newton_euler. */
static void coefficients(const mechanism *m, scratch *s, const real *v, const real *a, block_list *blocks) {
    arrays x = take(m, s);
    int n = m->count;
    real_clear(x.tau, m->nv);
    KERNEL(newton_euler).inverse(m, s, v, a, x.tau);
    recur(m, &x, v, x.tau, x.ddq);
    KERNEL(add_block)
    (blocks, "K", block_of(n, 3, 3, 0), x.K);
    KERNEL(add_block)(blocks, "d", block_of(n, 3, 0, 0), x.d);
    KERNEL(add_block)
    (blocks, "M", block_of(n, 3, 3, 0), x.M);
    KERNEL(add_block)(blocks, "f", block_of(n, 3, 0, 0), x.f);
    KERNEL(add_block)
    (blocks, "a", block_of(n, 3, 0, 0), x.a);
    KERNEL(add_block)(blocks, "w", block_of(n, 3, 0, 0), x.w);
    KERNEL(add_block)(blocks, "dw", block_of(n, 3, 0, 0), x.dw);
}

const formulation KERNEL(armstrong) = {
    {"armstrong", "Armstrong 1979; Featherstone and Orin 2000, section 2", DYN_FORMULATION_NEED_SPHERICAL, 1000, false,
     true, false, false},
    reserve,
    NULL,
    forward,
    NULL,
    coefficients,
};
