/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * RNEA, CRBA and ABA in absolute coordinates: all vectors in the axes of the world, about its origin, so that no step
 * from a link to its parent transforms anything.
 *     RNEA  v_i = v_parent + h_i dq_i                              eq. 3
 *           a_i = a_parent + dh_i/dt dq_i + h_i ddq_i              eq. 4
 *           f_i = I_i a_i + v_i x I_i v_i + sum of f_j             eq. 7     j: the children of i
 *           tau_i = h_i' f_i                                       eq. 8
 *     CRBA  I^C_i = I_i + sum of I^C_j                             eq. 9
 *           M_ji = h_j' I^C_i h_i for every j that carries i       eq. 10
 *     ABA   eqs. 12, 13, 14 and 4; articulated_joint.h
 * Gravity is the acceleration -g of the base.
 *
 * Source: Featherstone and Orin 2000, section 3.
 */
#include "articulated_joint.h"
#include "formulation.h"
#include "matrix.h"
#include "world_links.h"

/* Arrays of the links and joints of one call. */
typedef struct arrays {
    motion *v, *a;           /* velocities and accelerations */
    force *f, *pA;           /* wrenches of the joints, and bias wrenches of articulated bodies */
    rigid_inertia *IC;       /* inertias of composite rigid bodies */
    articulated_inertia *IA; /* inertias of articulated bodies */
    articulated_joint *joints;
    real *u;                     /* tau - h' p*, at the indices of the joints in v */
    real *tau, *IC_all, *IA_all; /* the blocks' forces and 6 x 6 matrices */
    const world_link *links;
} arrays;

static arrays take(const mechanism *m, const real *v, scratch *s) {
    arrays x;
    size_t count = (size_t)m->count;
    x.v = (motion *)scratch_take(s, count, sizeof(motion));
    x.a = (motion *)scratch_take(s, count, sizeof(motion));
    x.f = (force *)scratch_take(s, count, sizeof(force));
    x.pA = (force *)scratch_take(s, count, sizeof(force));
    x.IC = (rigid_inertia *)scratch_take(s, count, sizeof(rigid_inertia));
    x.IA = (articulated_inertia *)scratch_take(s, count, sizeof(articulated_inertia));
    x.joints = (articulated_joint *)scratch_take(s, count, sizeof(articulated_joint));
    x.u = scratch_reals(s, (size_t)m->nv);
    x.tau = scratch_reals(s, (size_t)m->nv);
    x.IC_all = scratch_reals(s, 36 * count);
    x.IA_all = scratch_reals(s, 36 * count);
    x.links = KERNEL(world_links)(m, v, s);
    return x;
}

static void reserve(const mechanism *m, scratch *s) {
    take(m, NULL, s);
}

static void inverse(const mechanism *m, scratch *s, const real *v, const real *a, real *tau) {
    arrays x = take(m, v, s);
    KERNEL(world_newton_euler)(m, x.links, a, x.a, x.f, tau);
}

static void composite_bodies(const mechanism *m, const arrays *x) {
    for (int i = 0; i < m->count; i++) {
        x->IC[i] = x->links[i].I;
    }
    for (int i = m->count - 1; i >= 0; i--) {
        int parent = x->links[i].parent;
        if (parent >= 0) {
            x->IC[parent] = rigid_inertia_add(x->IC[parent], x->IC[i]);
        }
    }
}

static void mass_matrix(const mechanism *m, scratch *s, real *M) {
    arrays x = take(m, NULL, s);
    composite_bodies(m, &x);
    real_clear(M, m->nv * m->nv);
    for (int i = 0; i < m->count; i++) {
        const world_link *l = &x.links[i];
        for (int k = 0; k < l->nv; k++) {
            force f = rigid_inertia_apply(x.IC[i], l->h[k]);
            int column = l->v_index + k;
            for (int j = i; j >= 0; j = x.links[j].parent) {
                for (int r = 0; r < x.links[j].nv; r++) {
                    int row = x.links[j].v_index + r;
                    M[row * m->nv + column] = spatial_dot(x.links[j].h[r], f);
                    M[column * m->nv + row] = M[row * m->nv + column];
                }
            }
        }
    }
}

/* Computes I^A, p^A and u = tau - h' p* of all links, from the tips to the base (eqs. 12 and 13). */
static void articulated_bodies(const mechanism *m, const arrays *x, const real *tau) {
    for (int i = 0; i < m->count; i++) {
        x->IA[i] = articulated_from_rigid(x->links[i].I);
        x->pA[i] = x->links[i].p;
    }
    for (int i = m->count - 1; i >= 0; i--) {
        const world_link *l = &x->links[i];
        KERNEL(articulate_joint)(l->nv, l->h, x->IA[i], &x->joints[i]);
        force bias = force_add(x->pA[i], articulated_apply(x->IA[i], l->c));
        real *u = x->u + l->v_index;
        for (int k = 0; k < l->nv; k++) {
            u[k] = tau[l->v_index + k] - spatial_dot(l->h[k], bias);
        }
        if (l->parent >= 0) {
            articulated_inertia across = KERNEL(inertia_across)(&x->joints[i], x->IA[i]);
            x->IA[l->parent] = articulated_add(x->IA[l->parent], across);
            x->pA[l->parent] = force_add(x->pA[l->parent], KERNEL(add_gain)(&x->joints[i], u, bias));
        }
    }
}

static void forward(const mechanism *m, scratch *s, const real *v, const real *tau, real *a) {
    arrays x = take(m, v, s);
    articulated_bodies(m, &x, tau);
    for (int i = 0; i < m->count; i++) {
        const world_link *l = &x.links[i];
        motion before = l->parent < 0 ? KERNEL(base_acceleration)(m) : x.a[l->parent];
        KERNEL(joint_acceleration)(&x.joints[i], x.u + l->v_index, before, a + l->v_index);
        x.a[i] = motion_add(before, motion_add(l->c, KERNEL(world_rate)(l, a + l->v_index)));
    }
}

static void coefficients(const mechanism *m, scratch *s, const real *v, const real *a, block_list *blocks) {
    arrays x = take(m, v, s);
    int n = m->count;
    real_clear(x.tau, m->nv);
    KERNEL(world_newton_euler)(m, x.links, a, x.a, x.f, x.tau);
    composite_bodies(m, &x);
    articulated_bodies(m, &x, x.tau);
    for (int i = 0; i < n; i++) {
        x.v[i] = x.links[i].v;
        KERNEL(matrix_set_inertia)(matrix_of(x.IC_all + 36 * i, 6, 6), articulated_from_rigid(x.IC[i]));
        KERNEL(matrix_set_inertia)(matrix_of(x.IA_all + 36 * i, 6, 6), x.IA[i]);
    }
    KERNEL(add_block)(blocks, "v", block_of(n, 2, 3, 0), x.v);
    KERNEL(add_block)(blocks, "a", block_of(n, 2, 3, 0), x.a);
    KERNEL(add_block)(blocks, "f", block_of(n, 2, 3, 0), x.f);
    KERNEL(add_block)
    (blocks, "I_C", block_of(n, 6, 6, 0), x.IC_all);
    KERNEL(add_block)(blocks, "I_A", block_of(n, 6, 6, 0), x.IA_all);
    KERNEL(add_block)(blocks, "p_A", block_of(n, 2, 3, 0), x.pA);
}

const formulation KERNEL(absolute_coordinates) = {
    {"absolute_coordinates", "Featherstone and Orin 2000, equations 3-14", DYN_FORMULATION_NEED_INDEPENDENT, 1000, true,
     true, true, true},
    reserve,
    inverse,
    forward,
    mass_matrix,
    coefficients,
};
