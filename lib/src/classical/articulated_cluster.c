/* SPDX-License-Identifier: BSD-2-Clause */
#include "articulated_cluster.h"

#include "linear.h"

/* Equations of the mechanism whose joint at `root` is cut. */
typedef struct cut_mechanism {
    const mechanism *m;
    const world_link *links;
    int root;
    int *moves; /* of body i: its joint, unless it is cut, moves an inertia, or is part of the subtree */
    rigid_inertia *I;
    motion *a;     /* of body i, less gravity, where A and x are zero */
    force *f;      /* of joint i then */
    matrix U, G;   /* 6 x nv: U, and U M^-1 */
    real *M, *rhs; /* tau - h */
} cut_mechanism;

/* Returns whether the joint of a body is not cut. */
static int is_whole(const cut_mechanism *c, int i) {
    return i != c->root;
}

/* Returns the body that carries body i by a joint that is not cut, or -1. */
static int carrier_of(const cut_mechanism *c, int i) {
    return is_whole(c, i) ? c->links[i].parent : -1;
}

/* Returns whether the constants of a body contain an inertia. */
static int has_inertia(const mechanism_link *l) {
    const body *b = l->b;
    return b->mass > 0 || b->inertia[0] > 0 || b->inertia[3] > 0 || b->inertia[5] > 0;
}

/* Finds the joints whose coordinates count: outside of the subtree, those that carry no inertia do not. */
static void find_moving(const cut_mechanism *c) {
    for (int i = 0; i < c->m->count; i++) {
        c->moves[i] = has_inertia(&c->m->links[i]);
    }
    for (int i = c->m->count - 1; i >= 0; i--) {
        int carrier = carrier_of(c, i);
        if (carrier >= 0 && c->moves[i]) {
            c->moves[carrier] = 1;
        }
    }
    for (int i = 0; i < c->m->count; i++) {
        c->moves[i] = is_whole(c, i) && (c->moves[i] || mechanism_carries(c->m, c->root, i));
    }
}

/* Computes composite inertias and the wrenches of the joints at A = 0 and x = 0. */
static void find_wrenches(const cut_mechanism *c) {
    for (int i = 0; i < c->m->count; i++) {
        const world_link *l = &c->links[i];
        int carrier = carrier_of(c, i);
        c->a[i] = carrier >= 0 ? c->a[carrier] : KERNEL(base_acceleration)(c->m);
        c->a[i] = is_whole(c, i) ? motion_add(c->a[i], l->c) : c->a[i];
        c->f[i] = force_add(rigid_inertia_apply(l->I, c->a[i]), l->p);
        c->I[i] = l->I;
    }
    for (int i = c->m->count - 1; i >= 0; i--) {
        int carrier = carrier_of(c, i);
        if (carrier >= 0) {
            c->f[carrier] = force_add(c->f[carrier], c->f[i]);
            c->I[carrier] = rigid_inertia_add(c->I[carrier], c->I[i]);
        }
    }
}

/* Adds what column k of joint i contributes to M and U. */
static void add_column(const cut_mechanism *c, int i, int k) {
    const world_link *l = &c->links[i];
    int nv = c->m->nv, column = l->v_index + k, at = i;
    force F = rigid_inertia_apply(c->I[i], l->h[k]);
    for (; at >= 0 && at != c->root; at = c->links[at].parent) {
        for (int r = 0; r < c->links[at].nv; r++) {
            int row = c->links[at].v_index + r;
            real entry = spatial_dot(c->links[at].h[r], F);
            c->M[row * nv + column] = c->M[row * nv + column] + entry;
            if (at != i) {
                c->M[column * nv + row] = c->M[column * nv + row] + entry;
            }
        }
    }
    if (at == c->root) {
        matrix to = matrix_block(c->U, 0, column, 6, 1);
        KERNEL(matrix_set_force)(to, force_add(KERNEL(matrix_force)(to), F));
    }
}

/* Computes M, U and tau - h. A coordinate without a joint that counts gets the row of an identity. */
static void find_equations(const cut_mechanism *c, const real *tau) {
    int nv = c->m->nv;
    real_clear(c->M, nv * nv), real_clear(c->U.x, 6 * nv);
    for (int k = 0; k < nv; k++) {
        c->M[k * nv + k] = real_set(1);
        c->rhs[k] = real_set(0);
    }
    for (int i = 0; i < c->m->count; i++) {
        for (int k = c->links[i].v_index; c->moves[i] && k < c->links[i].v_index + c->links[i].nv; k++) {
            c->M[k * nv + k] = real_set(0);
            c->rhs[k] = tau[k];
        }
    }
    for (int i = 0; i < c->m->count; i++) {
        const world_link *l = &c->links[i];
        for (int k = 0; c->moves[i] && k < l->nv; k++) {
            add_column(c, i, k);
            c->rhs[l->v_index + k] = c->rhs[l->v_index + k] - spatial_dot(l->h[k], c->f[i]);
        }
    }
}

/* Computes G' = M^-1 U', one of its six columns after the other. */
static void solve_columns(const cut_mechanism *c) {
    int nv = c->m->nv;
    KERNEL(factorize_symmetric)(nv, c->M);
    for (int k = 0; k < 6 * nv; k++) {
        c->G.x[k] = c->U.x[k];
    }
    for (int row = 0; row < 6; row++) {
        KERNEL(solve_symmetric)(nv, c->M, c->G.x + row * nv);
    }
}

/* Allocates the arrays from the scratch. */
static cut_mechanism cut(const mechanism *m, const world_link *links, int root, scratch *s) {
    const size_t count = (size_t)m->count;
    cut_mechanism c;
    c.m = m, c.links = links, c.root = root;
    c.moves = (int *)scratch_take(s, count, sizeof(int));
    c.I = (rigid_inertia *)scratch_take(s, count, sizeof(rigid_inertia));
    c.a = (motion *)scratch_take(s, count, sizeof(motion));
    c.f = (force *)scratch_take(s, count, sizeof(force));
    c.U = matrix_take(s, 6, m->nv), c.G = matrix_take(s, 6, m->nv);
    c.M = scratch_reals(s, (size_t)m->nv * (size_t)m->nv);
    c.rhs = scratch_reals(s, (size_t)m->nv);
    return c;
}

void KERNEL(articulate_cluster)(const mechanism *m, const world_link *links, int root, const real *tau, scratch *s,
                                articulated_inertia *inertia, force *bias) {
    const cut_mechanism c = cut(m, links, root, s);
    if (!links) {
        return;
    }
    find_moving(&c);
    find_wrenches(&c);
    find_equations(&c, tau);
    solve_columns(&c);
    *inertia = articulated_from_rigid(c.I[root]);
    *bias = c.f[root];
    for (int k = 0; k < m->nv; k++) {
        force G = KERNEL(matrix_force)(matrix_block(c.G, 0, k, 6, 1));
        *inertia = articulated_downdate(*inertia, G, KERNEL(matrix_force)(matrix_block(c.U, 0, k, 6, 1)));
        *bias = force_fma(c.rhs[k], G, *bias);
    }
}
