/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Walker and Orin's methods for the mass matrix, each with less work than the one before.
 *
 *     method 1  Column k is D(q, 0, e_k) - D(q, 0, 0): the forces of inverse dynamics for a unit acceleration, at rest
 *               and without gravity. The recursion runs over all links.
 *     method 2  A unit acceleration of joint j leaves the links before it at rest, so the recursions run over the links
 *               from j on. They yield the entries at j and after it; the others follow since M is symmetric.
 *     method 3  The subtree of joint j moves as one rigid body, whose inertia I^C is the sum of those of its links. Its
 *               wrench I^C S_k passes through all joints before it: M_ij = S_i' I^C_j S_j. Later authors call it the
 *               Composite Rigid Body Algorithm.
 *
 * The mass matrix is that of method 3. Link coordinates; extended from serial chains to trees and to joints with
 * several coordinates. Table 1 of Shao and Yuan 2012 prints 2567 and 18948 operations for its formula
 * N^3/3 + 65 N^2 + 197 N/6 - 33, which is 2576 at N = 6 and no integer at 17.
 *
 * Source: Walker and Orin 1982; Featherstone and Orin 2000, sections 2 and 3.2.
 */
#include "composite_bodies.h"
#include "formulation.h"

/* Arrays of one call. */
typedef struct arrays {
    motion *a;
    force *f;
    rigid_inertia *IC;
    real *M[3]; /* by the three methods */
} arrays;

static arrays take(const mechanism *m, scratch *s) {
    arrays x;
    size_t count = (size_t)m->count, square = (size_t)m->nv * (size_t)m->nv;
    x.a = (motion *)scratch_take(s, count, sizeof(motion));
    x.f = (force *)scratch_take(s, count, sizeof(force));
    x.IC = (rigid_inertia *)scratch_take(s, count, sizeof(rigid_inertia));
    for (int k = 0; k < 3; k++) {
        x.M[k] = scratch_reals(s, square);
    }
    return x;
}

static void reserve(const mechanism *m, scratch *s) {
    take(m, s);
}

/* Computes the wrenches of the joints from link `first` on for a unit acceleration along column k of `joint`, one of
 * these, alone. All links before `first` are at rest. */
static void respond(const mechanism *m, const arrays *x, int first, int joint, int k) {
    for (int i = first; i < m->count; i++) {
        const mechanism_link *l = &m->links[i];
        x->a[i] = l->parent < first ? motion_zero() : motion_to_child(l->X, x->a[l->parent]);
        if (i == joint) {
            x->a[i] = motion_add(x->a[i], mechanism_column(m, i, k));
        }
        x->f[i] = rigid_inertia_apply(l->I, x->a[i]);
    }
    for (int i = m->count - 1; i >= first; i--) {
        const mechanism_link *l = &m->links[i];
        if (l->parent >= first) {
            x->f[l->parent] = force_add(x->f[l->parent], force_to_parent(l->X, x->f[i]));
        }
    }
}

static void method_1(const mechanism *m, const arrays *x, real *M) {
    real_clear(M, m->nv * m->nv);
    for (int j = 0; j < m->count; j++) {
        for (int k = 0; k < m->links[j].nv; k++) {
            respond(m, x, 0, j, k);
            for (int i = 0; i < m->count; i++) {
                for (int r = 0; r < m->links[i].nv; r++) {
                    real entry = mechanism_force(m, i, r, x->f[i]);
                    KERNEL(add_mass_entry)(m, M, m->links[i].v_index + r, m->links[j].v_index + k, 0, entry);
                }
            }
        }
    }
}

static void method_2(const mechanism *m, const arrays *x, real *M) {
    real_clear(M, m->nv * m->nv);
    for (int j = 0; j < m->count; j++) {
        for (int k = 0; k < m->links[j].nv; k++) {
            respond(m, x, j, j, k);
            for (int i = j; i < m->count; i++) {
                for (int r = 0; r < m->links[i].nv; r++) {
                    real entry = mechanism_force(m, i, r, x->f[i]);
                    KERNEL(add_mass_entry)(m, M, m->links[i].v_index + r, m->links[j].v_index + k, i != j, entry);
                }
            }
        }
    }
}

static void method_3(const mechanism *m, const arrays *x, real *M) {
    KERNEL(composite_inertias)(m, x->IC);
    KERNEL(composite_mass_matrix)(m, x->IC, M);
}

static void mass_matrix(const mechanism *m, scratch *s, real *M) {
    arrays x = take(m, s);
    method_3(m, &x, M);
}

static void coefficients(const mechanism *m, scratch *s, const real *v, const real *a, block_list *blocks) {
    arrays x = take(m, s);
    block_shape square = block_of(m->nv, m->nv, 0, 0);
    (void)v, (void)a;
    method_1(m, &x, x.M[0]);
    method_2(m, &x, x.M[1]);
    method_3(m, &x, x.M[2]);
    KERNEL(add_block)(blocks, "M_1", square, x.M[0]);
    KERNEL(add_block)(blocks, "M_2", square, x.M[1]);
    KERNEL(add_block)(blocks, "M_3", square, x.M[2]);
    KERNEL(add_block)
    (blocks, "I_C", block_of(m->count, 10, 0, 0), x.IC);
}

const formulation KERNEL(walker_orin) = {
    {"walker_orin", "Walker and Orin 1982; Featherstone and Orin 2000, section 2", 0, 1000, false, false, true, false},
    reserve,
    NULL,
    NULL,
    mass_matrix,
    coefficients,
};
