/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lilly and Orin's four methods for the mass matrix, in link coordinates. J_i is the Jacobian of link i, 6 x nv; S_j
 * the columns of joint j; I_i and I^C_i the inertias of link i and of the composite rigid body of joint i.
 *
 *     method I    structurally recursive: M grows with each link, as the mechanism does:
 *                     J_i = X J_parent + S_i        M = M + J_i' I_i J_i
 *     method II   inertia projection: the inertia of each link is projected on the frames of all joints that carry it,
 *                 M_kj = sum over the links i in the subtree of j of S_k' X' (I_i in frame j) S_j
 *     method III  modified composite rigid body: the columns of M follow from the Jacobians,
 *                     M_j = J_j' I^C_j S_j
 *                 so that operational-space methods obtain the Jacobian of the last link with M.
 *     method IV   spatial composite rigid body: the wrench I^C_j S_j passes all joints before joint j.
 *
 * The mass matrix is that of method III. Extended from serial chains to trees and joints with several coordinates.
 *
 * Source: Lilly and Orin 1991; Lilly 1993, chapter 3; Featherstone and Orin 2000, section 2, which names the methods
 * only: their equations are from the literature as far as it is known, and their results are compared.
 */
#include "composite_bodies.h"
#include "formulation.h"
#include "matrix.h"

/* Arrays of one call. */
typedef struct arrays {
    rigid_inertia *IC;
    real *J;    /* count matrices of 6 x nv */
    matrix F;   /* I_i J_i, 6 x nv */
    real *M[4]; /* by the four methods */
} arrays;

static arrays take(const mechanism *m, scratch *s) {
    arrays x;
    size_t count = (size_t)m->count, nv = (size_t)m->nv;
    x.IC = (rigid_inertia *)scratch_take(s, count, sizeof(rigid_inertia));
    x.J = scratch_reals(s, 6 * count * nv);
    x.F = matrix_take(s, 6, m->nv);
    for (int k = 0; k < 4; k++) {
        x.M[k] = scratch_reals(s, nv * nv);
    }
    return x;
}

static void reserve(const mechanism *m, scratch *s) {
    take(m, s);
}

static matrix jacobian(const mechanism *m, const arrays *x, int i) {
    return matrix_of(x->J + 6 * i * m->nv, 6, m->nv);
}

static matrix column_of(matrix A, int j) {
    return matrix_block(A, 0, j, 6, 1);
}

/* Computes the Jacobian of every link, in its axes and about its origin. */
static void compute_jacobians(const mechanism *m, const arrays *x) {
    for (int i = 0; i < m->count; i++) {
        const mechanism_link *l = &m->links[i];
        matrix J = jacobian(m, x, i);
        KERNEL(matrix_clear)(J);
        for (int j = 0; l->parent >= 0 && j < m->nv; j++) {
            motion column = KERNEL(matrix_motion)(column_of(jacobian(m, x, l->parent), j));
            KERNEL(matrix_set_motion)(column_of(J, j), motion_to_child(l->X, column));
        }
        for (int k = 0; k < l->nv; k++) {
            KERNEL(matrix_set_motion)(column_of(J, l->v_index + k), mechanism_column(m, i, k));
        }
    }
}

static void structurally_recursive(const mechanism *m, const arrays *x, real *M) {
    matrix sum = matrix_of(M, m->nv, m->nv);
    compute_jacobians(m, x);
    KERNEL(matrix_clear)(sum);
    for (int i = 0; i < m->count; i++) {
        matrix J = jacobian(m, x, i);
        for (int j = 0; j < m->nv; j++) {
            motion column = KERNEL(matrix_motion)(column_of(J, j));
            KERNEL(matrix_set_force)(column_of(x->F, j), rigid_inertia_apply(m->links[i].I, column));
        }
        KERNEL(matrix_add_product)(matrix_transposed(J), x->F, sum);
    }
}

/* Adds S_k' X' f to column `column` of M for all joints k that carry link j, and to the row `column` where k is not
 * j. */
static void transmit(const mechanism *m, int j, int column, force f, real *M) {
    for (int k = j; k >= 0; k = m->links[k].parent) {
        for (int r = 0; r < m->links[k].nv; r++) {
            real entry = mechanism_force(m, k, r, f);
            KERNEL(add_mass_entry)(m, M, m->links[k].v_index + r, column, k != j, entry);
        }
        f = force_to_parent(m->links[k].X, f);
    }
}

static void inertia_projection(const mechanism *m, real *M) {
    real_clear(M, m->nv * m->nv);
    for (int i = 0; i < m->count; i++) {
        rigid_inertia I = m->links[i].I;
        for (int j = i; j >= 0; j = m->links[j].parent) {
            for (int k = 0; k < m->links[j].nv; k++) {
                transmit(m, j, m->links[j].v_index + k, rigid_inertia_apply(I, mechanism_column(m, j, k)), M);
            }
            I = rigid_inertia_to_parent(m->links[j].X, I);
        }
    }
}

static void modified_composite_body(const mechanism *m, const arrays *x, real *M) {
    compute_jacobians(m, x);
    KERNEL(composite_inertias)(m, x->IC);
    real_clear(M, m->nv * m->nv);
    for (int j = 0; j < m->count; j++) {
        int end = m->links[j].v_index + m->links[j].nv;
        for (int k = 0; k < m->links[j].nv; k++) {
            int column = m->links[j].v_index + k;
            force f = rigid_inertia_apply(x->IC[j], mechanism_column(m, j, k));
            for (int row = 0; row < end; row++) {
                M[row * m->nv + column] = spatial_dot(KERNEL(matrix_motion)(column_of(jacobian(m, x, j), row)), f);
                M[column * m->nv + row] = M[row * m->nv + column];
            }
        }
    }
}

static void spatial_composite_body(const mechanism *m, const arrays *x, real *M) {
    KERNEL(composite_inertias)(m, x->IC);
    KERNEL(composite_mass_matrix)(m, x->IC, M);
}

static void mass_matrix(const mechanism *m, scratch *s, real *M) {
    arrays x = take(m, s);
    modified_composite_body(m, &x, M);
}

static void coefficients(const mechanism *m, scratch *s, const real *v, const real *a, block_list *blocks) {
    arrays x = take(m, s);
    block_shape square = block_of(m->nv, m->nv, 0, 0);
    (void)v, (void)a;
    structurally_recursive(m, &x, x.M[0]);
    inertia_projection(m, x.M[1]);
    modified_composite_body(m, &x, x.M[2]);
    spatial_composite_body(m, &x, x.M[3]);
    KERNEL(add_block)(blocks, "M_I", square, x.M[0]);
    KERNEL(add_block)(blocks, "M_II", square, x.M[1]);
    KERNEL(add_block)(blocks, "M_III", square, x.M[2]);
    KERNEL(add_block)(blocks, "M_IV", square, x.M[3]);
    KERNEL(add_block)
    (blocks, "J", block_of(m->count, 6, m->nv, 0), x.J);
    KERNEL(add_block)
    (blocks, "I_C", block_of(m->count, 10, 0, 0), x.IC);
}

const formulation KERNEL(lilly_orin) = {
    {"lilly_orin", "Lilly and Orin 1991; Featherstone and Orin 2000, section 2", DYN_FORMULATION_NEED_INDEPENDENT, 300,
     false, false, true, false},
    reserve,
    NULL,
    NULL,
    mass_matrix,
    coefficients,
};
