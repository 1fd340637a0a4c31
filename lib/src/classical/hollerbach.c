/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Hollerbach's recursive Lagrangian: the Lagrange-Euler equations with 4 x 4 transforms in O(n). W_i is the transform
 * of link i in the base, A_i that of link i in its parent, J_i the pseudo-inertia, (h_i; m_i) its last column, and
 * Q = [w~ v; 0 0] of a motion.
 *
 *     outward  W_i    = W_p A_i
 *              W_i'   = W_p' A_i + W_i Q(S dq)
 *              W_i''  = W_p'' A_i + 2 W_p' A_i Q(S dq) + W_i (Q(S dq)^2 + Q(S ddq + dS/dt dq))
 *     inward   D_i    = J_i W_i''^T + sum over the children c of A_c D_c
 *              c_i    = (h_i; m_i) + sum over the children c of A_c c_c
 *     tau_k = Tr(dW_i/dq_k D_i) - g' dW_i/dq_k c_i           dW_i/dq_k = W_i Q(S_k)
 *
 * The sums of the Lagrangian over all later links and their partial derivatives become D and c, which links pass on.
 * For joints with several coordinates, W_i Q(S_k) is the displacement along velocity k, so that the same equations are
 * those of d'Alembert and hold where velocities are no rates of coordinates. Extended to trees.
 *
 * Source: Hollerbach 1980, sections III and IV, written from memory; Featherstone and Orin 2000, section 2.
 */
#include "formulation.h"
#include "mat4.h"

/* Quantities of the links, as above. */
typedef struct arrays {
    mat4 *A, *W, *dW, *ddW;
    mat4 *D; /* transpose of D: W'' J, plus the terms of the children */
    real *c; /* 4 numbers for each link */
    real *tau;
} arrays;

static arrays take(const mechanism *m, scratch *s) {
    arrays x;
    size_t count = (size_t)m->count;
    x.A = (mat4 *)scratch_take(s, count, sizeof(mat4));
    x.W = (mat4 *)scratch_take(s, count, sizeof(mat4));
    x.dW = (mat4 *)scratch_take(s, count, sizeof(mat4));
    x.ddW = (mat4 *)scratch_take(s, count, sizeof(mat4));
    x.D = (mat4 *)scratch_take(s, count, sizeof(mat4));
    x.c = scratch_reals(s, 4 * count);
    x.tau = scratch_reals(s, (size_t)m->nv);
    return x;
}

static void reserve(const mechanism *m, scratch *s) {
    take(m, s);
}

/* Computes W, W' and W'' of link i. */
static void move(const mechanism *m, const arrays *x, int i, const real *v, const real *a) {
    const mechanism_link *l = &m->links[i];
    mat4 rate = mat4_of_motion(mechanism_rate(m, i, v)), step = mat4_of_motion(mechanism_change(m, i, v, a));
    x->A[i] = mat4_of_placement(l->X);
    x->W[i] = l->parent < 0 ? x->A[i] : mat4_multiply(x->W[l->parent], x->A[i]);
    x->dW[i] = mat4_multiply(x->W[i], rate);
    x->ddW[i] = mat4_multiply(x->W[i], mat4_add(mat4_multiply(rate, rate), step));
    if (l->parent >= 0) {
        mat4 carried = mat4_multiply(x->dW[l->parent], x->A[i]), coriolis = mat4_multiply(carried, rate);
        x->dW[i] = mat4_add(carried, x->dW[i]);
        x->ddW[i] = mat4_add(x->ddW[i], mat4_add(coriolis, coriolis));
        x->ddW[i] = mat4_add(x->ddW[i], mat4_multiply(x->ddW[l->parent], x->A[i]));
    }
}

/* Adds the terms of link i to those of its parent: D^T A^T and A c. */
static void pass_on(const mechanism *m, const arrays *x, int i) {
    int parent = m->links[i].parent;
    if (parent < 0) {
        return;
    }
    x->D[parent] = mat4_add(x->D[parent], mat4_multiply(x->D[i], mat4_transpose(x->A[i])));
    for (int r = 0; r < 4; r++) {
        for (int k = 0; k < 4; k++) {
            x->c[4 * parent + r] = x->c[4 * parent + r] + x->A[i].e[4 * r + k] * x->c[4 * i + k];
        }
    }
}

/* Returns g' B c. */
static real weight(const mechanism *m, mat4 B, const real *c) {
    const real g[3] = {m->gravity.x, m->gravity.y, m->gravity.z};
    real sum = real_set(0);
    for (int r = 0; r < 3; r++) {
        for (int k = 0; k < 4; k++) {
            sum = sum + g[r] * B.e[4 * r + k] * c[k];
        }
    }
    return sum;
}

static void recur(const mechanism *m, const arrays *x, const real *v, const real *a, real *tau) {
    for (int i = 0; i < m->count; i++) {
        mat4 J = mat4_of_inertia(m->links[i].b);
        move(m, x, i, v, a);
        x->D[i] = mat4_multiply(x->ddW[i], J);
        for (int k = 0; k < 4; k++) {
            x->c[4 * i + k] = J.e[4 * k + 3];
        }
    }
    for (int i = m->count - 1; i >= 0; i--) {
        for (int k = 0; k < m->links[i].nv; k++) {
            mat4 change = mat4_multiply(x->W[i], mat4_of_motion(mechanism_column(m, i, k)));
            real *to = &tau[m->links[i].v_index + k];
            *to = *to + mat4_trace_product(change, x->D[i]) - weight(m, change, x->c + 4 * i);
        }
        pass_on(m, x, i);
    }
}

static void inverse(const mechanism *m, scratch *s, const real *v, const real *a, real *tau) {
    arrays x = take(m, s);
    recur(m, &x, v, a, tau);
}

static void coefficients(const mechanism *m, scratch *s, const real *v, const real *a, block_list *blocks) {
    arrays x = take(m, s);
    int n = m->count;
    real_clear(x.tau, m->nv);
    recur(m, &x, v, a, x.tau);
    for (int i = 0; i < n; i++) {
        x.D[i] = mat4_transpose(x.D[i]);
    }
    KERNEL(add_block)(blocks, "A", block_of(n, 4, 4, 0), x.A);
    KERNEL(add_block)(blocks, "W", block_of(n, 4, 4, 0), x.W);
    KERNEL(add_block)(blocks, "dW", block_of(n, 4, 4, 0), x.dW);
    KERNEL(add_block)(blocks, "ddW", block_of(n, 4, 4, 0), x.ddW);
    KERNEL(add_block)
    (blocks, "D", block_of(n, 4, 4, 0), x.D);
    KERNEL(add_block)
    (blocks, "c", block_of(n, 4, 0, 0), x.c);
}

const formulation KERNEL(hollerbach) = {
    {"hollerbach", "Hollerbach 1980; Featherstone and Orin 2000, section 2", 0, 1000, true, false, false, false},
    reserve,
    inverse,
    NULL,
    NULL,
    coefficients,
};
