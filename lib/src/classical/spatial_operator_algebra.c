/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The spatial operator algebra: forward dynamics as Kalman filtering. Vectors are those of all links, stacked, each in
 * the axes of its link; * is the transpose.
 *
 *     H            nv x 6 N, from the state of the links to the joints; H* theta' are the motions in the joints
 *     phi          6 N x 6 N; phi(i, j) transforms a wrench from link j to link i, which carries it, or i = j
 *     V = phi* H* theta'      alpha = phi* (H* theta'' + a)      f = phi (M alpha + b)      T = H f
 *
 * a are the velocity products of the joints (with -g at the base), b the gyroscopic wrenches. From the tips to the base
 * (p: parent of k):
 *     P(k)   = M(k) + sum over its children of phi (P - G H P) phi*          articulated inertia
 *     D      = H P H*        G = P H* D^-1 (Kalman gain)        K(p, k) = phi(p, k) G(k)
 *     psi(p, k) = phi(p, k) (I - G(k) H(k))
 *
 *     M      = H phi M phi* H* = (I + H phi K) D (I + H phi K)*              innovations factorization
 *     (I + H phi K)^-1 = I - H psi K
 *     M^-1   = (I - H psi K)* D^-1 (I - H psi K)
 *
 * and with the innovations
 *     z = psi (K T + P a + b)      epsilon = T - H z      nu = D^-1 epsilon         filter, inward
 *     theta'' = (I - H psi K)* nu - K* psi* a                                       smoother, outward
 *
 * Three names of the same quantities (Shao and Yuan 2012, table 2; the last column is that of Lie groups):
 *     H*(k)             s_k                           s_k
 *     phi*(k + 1, k)    X from the prior link         Ad of T^-1
 *     phi(k + 1, k)     X* to the prior link          Ad* of T^-1
 *     V, alpha, f       v_k, a_k, f_k                 V_k, its rate, F_k
 *     M(k)              I_k                           J_k
 *     G(k)              I^A s (s' I^A s)^-1           J^ s (s' J^ s)^-1
 *     P(k)              I^A_k                         J^_k
 *     z(k)              p^A_k                         B_k
 *
 * Links are numbered from the base here and from the tip in the sources, so that phi is upper triangular here.
 *
 * Source: Rodriguez, Jain and Kreutz-Delgado 1991; Shao and Yuan 2012; Featherstone and Orin 2000, section 2.
 */
#include "articulated_joint.h"
#include "formulation.h"
#include "matrix.h"

/* Operators and vectors of one call, as above. */
typedef struct operators {
    matrix H, phi, psi, G, K, D;            /* as above; H, phi and psi for 6 N numbers */
    matrix W, inverse;                      /* I + H phi K, and I - H psi K */
    matrix WD, M, M_inverse;                /* W D, and the factorizations */
    real *inertias, *P_all;                 /* M and P, 6 x 6 numbers for each link */
    real *T, *epsilon, *nu, *accelerations; /* nv numbers each; the last are theta'' */
    motion *V, *a, *alpha;
    force *b, *f, *z;
    articulated_inertia *P;
    articulated_joint *joints;
} operators;

static operators take(const mechanism *m, scratch *s) {
    operators x;
    int rows = 6 * m->count, nv = m->nv;
    size_t count = (size_t)m->count;
    x.H = matrix_take(s, nv, rows);
    x.phi = matrix_take(s, rows, rows), x.psi = matrix_take(s, rows, rows);
    x.G = matrix_take(s, rows, nv), x.K = matrix_take(s, rows, nv), x.D = matrix_take(s, nv, nv);
    x.W = matrix_take(s, nv, nv), x.inverse = matrix_take(s, nv, nv), x.WD = matrix_take(s, nv, nv);
    x.M = matrix_take(s, nv, nv), x.M_inverse = matrix_take(s, nv, nv);
    x.inertias = scratch_reals(s, 36 * count), x.P_all = scratch_reals(s, 36 * count);
    x.T = scratch_reals(s, (size_t)nv), x.epsilon = scratch_reals(s, (size_t)nv);
    x.nu = scratch_reals(s, (size_t)nv), x.accelerations = scratch_reals(s, (size_t)nv);
    x.V = (motion *)scratch_take(s, count, sizeof(motion));
    x.a = (motion *)scratch_take(s, count, sizeof(motion));
    x.alpha = (motion *)scratch_take(s, count, sizeof(motion));
    x.b = (force *)scratch_take(s, count, sizeof(force));
    x.f = (force *)scratch_take(s, count, sizeof(force));
    x.z = (force *)scratch_take(s, count, sizeof(force));
    x.P = (articulated_inertia *)scratch_take(s, count, sizeof(articulated_inertia));
    x.joints = (articulated_joint *)scratch_take(s, count, sizeof(articulated_joint));
    return x;
}

static void reserve(const mechanism *m, scratch *s) {
    take(m, s);
}

/* ---- Recursions -------------------------------------------------------------------------------------------------- */

/* Computes V, a and b. */
static void set_velocities(const mechanism *m, const operators *x, const real *v) {
    const motion base = motion_set(vec3_zero(), vec3_scale(real_set(-1), m->gravity));
    for (int k = 0; k < m->count; k++) {
        const mechanism_link *l = &m->links[k];
        motion rate = mechanism_rate(m, k, v);
        x->V[k] = l->parent < 0 ? rate : motion_add(motion_to_child(l->X, x->V[l->parent]), rate);
        x->a[k] = mechanism_add_bias(m, k, v, motion_cross(x->V[k], rate));
        if (l->parent < 0) {
            x->a[k] = motion_add(motion_to_child(l->X, base), x->a[k]);
        }
        x->b[k] = force_cross(x->V[k], rigid_inertia_apply(l->I, x->V[k]));
        x->b[k] = mechanism_subtract_external(m, k, x->b[k]);
    }
}

/* Computes P, D and G, which do not depend on velocities. */
static void set_gains(const mechanism *m, const operators *x) {
    motion h[6];
    for (int k = 0; k < m->count; k++) {
        x->P[k] = articulated_from_rigid(m->links[k].I);
    }
    for (int k = m->count - 1; k >= 0; k--) {
        const mechanism_link *l = &m->links[k];
        for (int c = 0; c < l->nv; c++) {
            h[c] = mechanism_column(m, k, c);
        }
        KERNEL(articulate_joint)(l->nv, h, x->P[k], &x->joints[k]);
        if (l->parent >= 0) {
            articulated_inertia across = KERNEL(inertia_across)(&x->joints[k], x->P[k]);
            x->P[l->parent] = articulated_add(x->P[l->parent], articulated_to_parent(l->X, across));
        }
    }
}

/* Computes alpha, f and T for the accelerations `a` of the joints. */
static void inverse_recursion(const mechanism *m, const operators *x, const real *a, real *T) {
    for (int k = 0; k < m->count; k++) {
        const mechanism_link *l = &m->links[k];
        x->alpha[k] = motion_add(x->a[k], mechanism_rate(m, k, a));
        if (l->parent >= 0) {
            x->alpha[k] = motion_add(motion_to_child(l->X, x->alpha[l->parent]), x->alpha[k]);
        }
        x->f[k] = force_add(rigid_inertia_apply(l->I, x->alpha[k]), x->b[k]);
    }
    for (int k = m->count - 1; k >= 0; k--) {
        const mechanism_link *l = &m->links[k];
        mechanism_add_force(m, k, x->f[k], T);
        if (l->parent >= 0) {
            x->f[l->parent] = force_add(x->f[l->parent], force_to_parent(l->X, x->f[k]));
        }
    }
}

/* Computes z, epsilon and nu, from the tips to the base. */
static void filter(const mechanism *m, const operators *x, const real *T) {
    for (int k = 0; k < m->count; k++) {
        x->z[k] = force_add(articulated_apply(x->P[k], x->a[k]), x->b[k]);
    }
    for (int k = m->count - 1; k >= 0; k--) {
        const mechanism_link *l = &m->links[k];
        real *epsilon = x->epsilon + l->v_index;
        for (int c = 0; c < l->nv; c++) {
            epsilon[c] = T[l->v_index + c] - mechanism_force(m, k, c, x->z[k]);
        }
        KERNEL(joint_acceleration)(&x->joints[k], epsilon, motion_zero(), x->nu + l->v_index);
        if (l->parent >= 0) {
            force across = KERNEL(add_gain)(&x->joints[k], epsilon, x->z[k]);
            x->z[l->parent] = force_add(x->z[l->parent], force_to_parent(l->X, across));
        }
    }
}

/* Computes alpha and theta'', from the base to the tips. */
static void smooth(const mechanism *m, const operators *x, real *a) {
    for (int k = 0; k < m->count; k++) {
        const mechanism_link *l = &m->links[k];
        motion before = l->parent < 0 ? motion_zero() : motion_to_child(l->X, x->alpha[l->parent]);
        KERNEL(joint_acceleration)(&x->joints[k], x->epsilon + l->v_index, before, a + l->v_index);
        x->alpha[k] = motion_add(before, motion_add(x->a[k], mechanism_rate(m, k, a)));
    }
}

static void inverse(const mechanism *m, scratch *s, const real *v, const real *a, real *tau) {
    operators x = take(m, s);
    set_velocities(m, &x, v);
    inverse_recursion(m, &x, a, tau);
}

static void forward(const mechanism *m, scratch *s, const real *v, const real *tau, real *a) {
    operators x = take(m, s);
    set_velocities(m, &x, v);
    set_gains(m, &x);
    filter(m, &x, tau);
    smooth(m, &x, a);
}

/* ---- Operators as matrices --------------------------------------------------------------------------------------- */

/* Stores the forces S_i' f of joint i in its rows of one column of A, with the opposite sign if `negative`. */
static void store_forces(const mechanism *m, int i, force f, int negative, matrix A, int column) {
    const mechanism_link *l = &m->links[i];
    for (int r = 0; r < l->nv; r++) {
        real entry = mechanism_force(m, i, r, f);
        *matrix_at(A, l->v_index + r, column) = negative ? -entry : entry;
    }
}

/* Computes column c of joint k of I + H phi K: the wrench G passes all joints before k. */
static void store_factor_column(const mechanism *m, const operators *x, int k, int c) {
    int column = m->links[k].v_index + c;
    force f = x->joints[k].G[c];
    *matrix_at(x->W, column, column) = real_set(1);
    for (int i = k; m->links[i].parent >= 0;) {
        f = force_to_parent(m->links[i].X, f);
        i = m->links[i].parent;
        store_forces(m, i, f, 0, x->W, column);
    }
}

/* Computes column c of joint k of I - H psi K: the wrench G passes the joints before k, and loses G(i) H(i) f in each
 * joint i, which yields to it. */
static void store_inverse_column(const mechanism *m, const operators *x, int k, int c) {
    int column = m->links[k].v_index + c;
    force f = x->joints[k].G[c];
    real lost[6];
    *matrix_at(x->inverse, column, column) = real_set(1);
    for (int i = k; m->links[i].parent >= 0;) {
        f = force_to_parent(m->links[i].X, f);
        i = m->links[i].parent;
        store_forces(m, i, f, 1, x->inverse, column);
        for (int r = 0; r < m->links[i].nv; r++) {
            lost[r] = *matrix_at(x->inverse, m->links[i].v_index + r, column);
        }
        f = KERNEL(add_gain)(&x->joints[i], lost, f);
    }
}

/* Stores D, or its inverse if `inverted`, in x->D: a block for each joint. */
static void store_joint_blocks(const mechanism *m, const operators *x, int inverted) {
    KERNEL(matrix_clear)(x->D);
    for (int k = 0; k < m->count; k++) {
        int first = m->links[k].v_index, nv = m->links[k].nv;
        for (int i = 0; i < nv * nv; i++) {
            real entry = inverted ? x->joints[k].inverse[i] : x->joints[k].D[i];
            *matrix_at(x->D, first + i / nv, first + i % nv) = entry;
        }
    }
}

/* Computes M = (I + H phi K) D (I + H phi K)*. */
static void factorized_mass_matrix(const mechanism *m, const operators *x, matrix M) {
    set_gains(m, x);
    KERNEL(matrix_clear)(x->W);
    for (int k = 0; k < m->count; k++) {
        for (int c = 0; c < m->links[k].nv; c++) {
            store_factor_column(m, x, k, c);
        }
    }
    store_joint_blocks(m, x, 0);
    KERNEL(matrix_product)(x->W, x->D, x->WD);
    KERNEL(matrix_product)(x->WD, matrix_transposed(x->W), M);
}

/* Computes M^-1 = (I - H psi K)* D^-1 (I - H psi K). */
static void factorized_inverse(const mechanism *m, const operators *x) {
    KERNEL(matrix_clear)(x->inverse);
    for (int k = 0; k < m->count; k++) {
        for (int c = 0; c < m->links[k].nv; c++) {
            store_inverse_column(m, x, k, c);
        }
    }
    store_joint_blocks(m, x, 1);
    KERNEL(matrix_product)(matrix_transposed(x->inverse), x->D, x->WD);
    KERNEL(matrix_product)(x->WD, x->inverse, x->M_inverse);
}

static void mass_matrix(const mechanism *m, scratch *s, real *M) {
    operators x = take(m, s);
    factorized_mass_matrix(m, &x, matrix_of(M, m->nv, m->nv));
}

/* Computes a transition operator, phi, or with `yields` psi: block (i, j) is block (i, parent of j) times the step
 * across joint j. */
static void store_transitions(const mechanism *m, const operators *x, matrix A, int yields) {
    real transform[36], step[36], loss[36];
    matrix X = matrix_of(transform, 6, 6), Y = matrix_of(step, 6, 6), L = matrix_of(loss, 6, 6);
    KERNEL(matrix_identity)(A);
    for (int j = 0; j < m->count; j++) {
        const mechanism_link *l = &m->links[j];
        KERNEL(matrix_identity)(L);
        if (yields) {
            matrix G = matrix_block(x->G, 6 * j, l->v_index, 6, l->nv),
                   H = matrix_block(x->H, l->v_index, 6 * j, l->nv, 6);
            KERNEL(matrix_subtract_product)(G, H, L);
        }
        KERNEL(matrix_set_force_transform)(X, l->X);
        KERNEL(matrix_product)(X, L, Y);
        for (int i = l->parent; i >= 0; i = m->links[i].parent) {
            matrix before = matrix_block(A, 6 * i, 6 * l->parent, 6, 6);
            KERNEL(matrix_product)(before, Y, matrix_block(A, 6 * i, 6 * j, 6, 6));
        }
    }
}

/* Stores H, G, K, phi, psi, M and P as matrices. */
static void store_operators(const mechanism *m, const operators *x) {
    KERNEL(matrix_clear)(x->H), KERNEL(matrix_clear)(x->G), KERNEL(matrix_clear)(x->K);
    for (int k = 0; k < m->count; k++) {
        const mechanism_link *l = &m->links[k];
        for (int c = 0; c < l->nv; c++) {
            int column = l->v_index + c;
            force G = x->joints[k].G[c];
            matrix row = matrix_block(x->H, column, 6 * k, 1, 6);
            KERNEL(matrix_set_motion)(matrix_transposed(row), mechanism_column(m, k, c));
            KERNEL(matrix_set_force)(matrix_block(x->G, 6 * k, column, 6, 1), G);
            if (l->parent >= 0) {
                KERNEL(matrix_set_force)(matrix_block(x->K, 6 * l->parent, column, 6, 1), force_to_parent(l->X, G));
            }
        }
        KERNEL(matrix_set_inertia)(matrix_of(x->inertias + 36 * k, 6, 6), articulated_from_rigid(l->I));
        KERNEL(matrix_set_inertia)(matrix_of(x->P_all + 36 * k, 6, 6), x->P[k]);
    }
    store_transitions(m, x, x->phi, 0);
    store_transitions(m, x, x->psi, 1);
}

static void add_blocks(const mechanism *m, const operators *x, block_list *blocks) {
    int n = m->count, nv = m->nv, rows = 6 * n;
    KERNEL(add_block)
    (blocks, "H", block_of(nv, rows, 0, 0), x->H.x);
    KERNEL(add_block)
    (blocks, "phi", block_of(rows, rows, 0, 0), x->phi.x);
    KERNEL(add_block)(blocks, "psi", block_of(rows, rows, 0, 0), x->psi.x);
    KERNEL(add_block)
    (blocks, "M_k", block_of(n, 6, 6, 0), x->inertias);
    KERNEL(add_block)(blocks, "P", block_of(n, 6, 6, 0), x->P_all);
    KERNEL(add_block)(blocks, "G", block_of(rows, nv, 0, 0), x->G.x);
    KERNEL(add_block)(blocks, "K", block_of(rows, nv, 0, 0), x->K.x);
    KERNEL(add_block)(blocks, "W", block_of(nv, nv, 0, 0), x->W.x);
    KERNEL(add_block)(blocks, "W_inverse", block_of(nv, nv, 0, 0), x->inverse.x);
    KERNEL(add_block)(blocks, "D", block_of(nv, nv, 0, 0), x->D.x);
    KERNEL(add_block)(blocks, "M", block_of(nv, nv, 0, 0), x->M.x);
    KERNEL(add_block)(blocks, "M_inverse", block_of(nv, nv, 0, 0), x->M_inverse.x);
    KERNEL(add_block)(blocks, "V", block_of(n, 2, 3, 0), x->V);
    KERNEL(add_block)
    (blocks, "alpha", block_of(n, 2, 3, 0), x->alpha);
    KERNEL(add_block)(blocks, "f", block_of(n, 2, 3, 0), x->f);
    KERNEL(add_block)(blocks, "z", block_of(n, 2, 3, 0), x->z);
    KERNEL(add_block)(blocks, "epsilon", block_of(nv, 0, 0, 0), x->epsilon);
    KERNEL(add_block)(blocks, "nu", block_of(nv, 0, 0, 0), x->nu);
    KERNEL(add_block)(blocks, "accelerations", block_of(nv, 0, 0, 0), x->accelerations);
}

static void coefficients(const mechanism *m, scratch *s, const real *v, const real *a, block_list *blocks) {
    operators x = take(m, s);
    set_velocities(m, &x, v);
    real_clear(x.T, m->nv);
    inverse_recursion(m, &x, a, x.T);
    factorized_mass_matrix(m, &x, x.M);
    factorized_inverse(m, &x);
    filter(m, &x, x.T);
    smooth(m, &x, x.accelerations);
    store_operators(m, &x);
    store_joint_blocks(m, &x, 0);
    add_blocks(m, &x, blocks);
}

const formulation KERNEL(spatial_operator_algebra) = {
    {"spatial_operator_algebra", "Rodriguez, Jain and Kreutz-Delgado 1991; Shao and Yuan 2012, table 2",
     DYN_FORMULATION_NEED_INDEPENDENT, 200, true, true, true, true},
    reserve,
    inverse,
    forward,
    mass_matrix,
    coefficients,
};
