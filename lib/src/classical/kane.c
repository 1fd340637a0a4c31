/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Kane's equations: the motion of N free bodies, projected on the motions that the joints allow.
 *
 *     f = I a + v x I v                               eq. 23     all bodies, stacked: f and a are 6 N numbers
 *     a = a_0 + S alpha                               eq. 24     S = P^-1 H, alpha = ddq
 *     f_a + f_c = I a + v x I v                       eq. 25     f_a: active forces, f_c: those of the constraints
 *     S' I S alpha = S' (f_a - I a_0 - v x I v)       eq. 26     since S' f_c = 0
 *
 * Column k of S holds the partial velocities of all bodies with respect to coordinate k. S' f_a, to which the forces of
 * the joints add tau, are Kane's generalized active forces F, and -S' (I a + v x I v) are his generalized inertia
 * forces F*: F + F* = 0. Gravity is an active force. Vectors are in the axes of the world, about its origin.
 *
 * Source: Featherstone and Orin 2000, section 3.5; Kane and Levinson 1983.
 */
#include "formulation.h"
#include "linear.h"
#include "matrix.h"
#include "world_links.h"

/* Stacked vectors and matrices of N bodies. */
typedef struct stacked {
    matrix S;            /* 6 N x nv */
    matrix IS;           /* I S */
    matrix I;            /* N blocks of 6 x 6, one below the other */
    matrix a0, fa, p;    /* 6 N x 1; p = v x I v */
    matrix inertia;      /* I a + p */
    matrix M;            /* nv x nv */
    matrix active, star; /* F and F*, nv x 1 */
    const world_link *links;
} stacked;

static stacked take(const mechanism *m, const real *v, scratch *s) {
    stacked x;
    int rows = 6 * m->count;
    x.S = matrix_take(s, rows, m->nv);
    x.IS = matrix_take(s, rows, m->nv);
    x.I = matrix_take(s, rows, 6);
    x.a0 = matrix_take(s, rows, 1);
    x.fa = matrix_take(s, rows, 1);
    x.p = matrix_take(s, rows, 1);
    x.inertia = matrix_take(s, rows, 1);
    x.M = matrix_take(s, m->nv, m->nv);
    x.active = matrix_take(s, m->nv, 1);
    x.star = matrix_take(s, m->nv, 1);
    x.links = KERNEL(world_links)(m, v, s);
    return x;
}

static void reserve(const mechanism *m, scratch *s) {
    take(m, NULL, s);
}

/* Returns the six rows of body i. */
static matrix rows_of(matrix A, int i) {
    return matrix_block(A, 6 * i, 0, 6, A.columns);
}

/* Computes S = P^-1 H, I S and M = S' I S. */
static void partial_velocities(const mechanism *m, const stacked *x) {
    KERNEL(world_jacobians)(m, x->links, x->S);
    for (int i = 0; i < m->count; i++) {
        const world_link *l = &x->links[i];
        KERNEL(matrix_set_inertia)(rows_of(x->I, i), articulated_from_rigid(l->I));
        KERNEL(matrix_product)(rows_of(x->I, i), rows_of(x->S, i), rows_of(x->IS, i));
    }
    KERNEL(matrix_product)(matrix_transposed(x->S), x->IS, x->M);
}

/* Returns the wrench of gravity on a body about the origin of the world: (h x g; m g). */
static force weight(const mechanism *m, const world_link *l) {
    return force_set(vec3_cross(l->I.h, m->gravity), vec3_scale(l->I.m, m->gravity));
}

/* Computes a_0, f_a and v x I v. */
static void velocity_terms(const mechanism *m, const stacked *x) {
    for (int i = 0; i < m->count; i++) {
        const world_link *l = &x->links[i];
        motion before = l->parent < 0 ? motion_zero() : KERNEL(matrix_motion)(rows_of(x->a0, l->parent));
        KERNEL(matrix_set_motion)(rows_of(x->a0, i), motion_add(before, l->c));
        force active = weight(m, l), product = l->p;
        if (m->external) {
            force external = KERNEL(world_external)(m, l, i);
            active = force_add(active, external), product = force_add(product, external);
        }
        KERNEL(matrix_set_force)(rows_of(x->fa, i), active);
        KERNEL(matrix_set_force)(rows_of(x->p, i), product);
    }
}

/* Computes I (a_0 + S alpha) + v x I v, F = S' f_a, and F* for the accelerations alpha. */
static void generalized_forces(const mechanism *m, const stacked *x, const real *alpha) {
    for (int i = 0; i < m->count; i++) {
        for (int r = 6 * i; r < 6 * i + 6; r++) {
            *matrix_at(x->inertia, r, 0) = *matrix_at(x->p, r, 0);
        }
        KERNEL(matrix_add_product)(rows_of(x->I, i), rows_of(x->a0, i), rows_of(x->inertia, i));
    }
    KERNEL(multiply_add)(6 * m->count, m->nv, x->IS.x, alpha, x->inertia.x);
    KERNEL(matrix_product)(matrix_transposed(x->S), x->fa, x->active);
    KERNEL(matrix_clear)(x->star);
    KERNEL(matrix_subtract_product)(matrix_transposed(x->S), x->inertia, x->star);
}

static void inverse(const mechanism *m, scratch *s, const real *v, const real *a, real *tau) {
    stacked x = take(m, v, s);
    partial_velocities(m, &x);
    velocity_terms(m, &x);
    generalized_forces(m, &x, a);
    for (int k = 0; k < m->nv; k++) {
        tau[k] = -(x.active.x[k] + x.star.x[k]);
    }
}

static void forward(const mechanism *m, scratch *s, const real *v, const real *tau, real *a) {
    stacked x = take(m, v, s);
    partial_velocities(m, &x);
    velocity_terms(m, &x);
    real_clear(a, m->nv);
    generalized_forces(m, &x, a);
    for (int k = 0; k < m->nv; k++) {
        a[k] = tau[k] + x.active.x[k] + x.star.x[k];
    }
    KERNEL(factorize_symmetric)(m->nv, x.M.x);
    KERNEL(solve_symmetric)(m->nv, x.M.x, a);
}

static void mass_matrix(const mechanism *m, scratch *s, real *M) {
    stacked x = take(m, NULL, s);
    partial_velocities(m, &x);
    for (int k = 0; k < m->nv * m->nv; k++) {
        M[k] = x.M.x[k];
    }
}

static void coefficients(const mechanism *m, scratch *s, const real *v, const real *a, block_list *blocks) {
    stacked x = take(m, v, s);
    int n = m->count, nv = m->nv;
    partial_velocities(m, &x);
    velocity_terms(m, &x);
    generalized_forces(m, &x, a);
    KERNEL(add_block)
    (blocks, "S", block_of(n, 6, nv, 0), x.S.x);
    KERNEL(add_block)(blocks, "I", block_of(n, 6, 6, 0), x.I.x);
    KERNEL(add_block)(blocks, "a_0", block_of(n, 2, 3, 0), x.a0.x);
    KERNEL(add_block)(blocks, "f_a", block_of(n, 2, 3, 0), x.fa.x);
    KERNEL(add_block)(blocks, "v_x_Iv", block_of(n, 2, 3, 0), x.p.x);
    KERNEL(add_block)(blocks, "M", block_of(nv, nv, 0, 0), x.M.x);
    KERNEL(add_block)(blocks, "F", block_of(nv, 0, 0, 0), x.active.x);
    KERNEL(add_block)(blocks, "F_star", block_of(nv, 0, 0, 0), x.star.x);
}

const formulation KERNEL(kane) = {
    {"kane", "Featherstone and Orin 2000, equations 23-26; Kane and Levinson 1983", 0, 300, true, true, true, true},
    reserve,
    inverse,
    forward,
    mass_matrix,
    coefficients,
};
