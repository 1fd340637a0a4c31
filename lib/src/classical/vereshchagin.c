/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Vereshchagin's forward dynamics: Gauss's principle of least constraint, minimized by dynamic programming, with
 * constraints on the end effector.
 *
 * Of all accelerations that the joints allow, the real ones minimize the compulsion
 *     Z = sum over links of (a_i' I_i a_i / 2 + p_i' a_i) - sum over joints of tau_i ddq_i
 * subject to constraints on the last link, E_n' a_n = target, with multipliers nu, the wrench that enforces them. What
 * the links from i on contribute to the minimum is a quadratic function of a_i; Bellman's principle yields it from the
 * tip to the base:
 *     Z_i(a) = a' I^A_i a / 2 + (p^A_i - E_i nu)' a - U_i' nu - nu' L_i nu / 2 + constant
 *     u   = tau_i - h_i' (p^A_i + I^A_i c_i)                                      least at
 *     ddq_i = D^-1 (u + h_i' E_i nu) - G' a_parent                                (articulated_joint.h)
 *     E_parent = (1 - G h_i') E_i
 *     U_parent = U_i + E_i' (c_i + h_i D^-1 u)
 *     L_parent = L_i + E_i' h_i D^-1 h_i' E_i
 * At the base, E_0' a_0 + U_0 + L_0 nu = target: the acceleration of the end effector for the multipliers nu. L_0 is
 * J M^-1 J', and U_0 with a_0 its acceleration without constraints. The recursions are those of the ABA, eight years
 * before it.
 *
 * Constraints C A = target of the end effector's acceleration A, those of dyn_formulation_constrain_tip, have the
 * wrench nu = C' mu with C L_0 C' mu = target - C A_free. Without them forward dynamics is that of the free chain,
 * nu = 0, and the blocks show the chain whose end effector is held: all six components of its acceleration are zero, as
 * far as the joints reach. Vectors are in the axes of the world, about its
 * origin, so E_n is the identity. Gravity is the acceleration a_0 = -g of the base; "held" is a_n = a_0 then. p_i is
 * v_i x I_i v_i.
 *
 * Source: Vereshchagin 1974; Featherstone and Orin 2000, section 2; Shakhimardanov 2015 for the notation.
 */
#include "articulated_joint.h"
#include "formulation.h"
#include "matrix.h"
#include "world_links.h"

enum { ROWS = 6 }; /* constraints: components of the acceleration of the last link */

/* Least pivot of L, as a share of the trace of its rotational or translational block, that counts as an acceleration
 * that the joints reach. */
static const double reach = 1e-9;

/* Arrays of one call, as above. */
typedef struct arrays {
    articulated_inertia *IA;
    articulated_joint *joints;
    force *pA;
    motion *a;
    real *u;                   /* at the indices of the joints */
    real *he;                  /* h' E, ROWS numbers for each coordinate */
    real *E;                   /* ROWS columns, each a wrench: 6 x ROWS for each link */
    matrix L, U;               /* of the base: ROWS x ROWS, ROWS x 1 */
    matrix LDL;                /* factors of L */
    matrix C, CL;              /* constraints by rows: ROWS x ROWS */
    matrix nu, mu;             /* ROWS x 1 */
    real *tau, *held, *IA_all; /* of the blocks: forces, accelerations of the held chain, 6 x 6 matrices */
    const world_link *links;
} arrays;

static arrays take(const mechanism *m, const real *v, scratch *s) {
    arrays x;
    size_t count = (size_t)m->count, nv = (size_t)m->nv;
    x.IA = (articulated_inertia *)scratch_take(s, count, sizeof(articulated_inertia));
    x.joints = (articulated_joint *)scratch_take(s, count, sizeof(articulated_joint));
    x.pA = (force *)scratch_take(s, count, sizeof(force));
    x.a = (motion *)scratch_take(s, count, sizeof(motion));
    x.u = scratch_reals(s, nv), x.he = scratch_reals(s, ROWS * nv);
    x.E = scratch_reals(s, 6 * ROWS * count);
    x.L = matrix_take(s, ROWS, ROWS), x.U = matrix_take(s, ROWS, 1);
    x.LDL = matrix_take(s, ROWS, ROWS), x.nu = matrix_take(s, ROWS, 1);
    x.C = matrix_take(s, ROWS, ROWS), x.CL = matrix_take(s, ROWS, ROWS), x.mu = matrix_take(s, ROWS, 1);
    x.tau = scratch_reals(s, nv), x.held = scratch_reals(s, nv), x.IA_all = scratch_reals(s, 36 * count);
    x.links = KERNEL(world_links)(m, v, s);
    return x;
}

static void reserve(const mechanism *m, scratch *s) {
    take(m, NULL, s);
}

static matrix column_of(const arrays *x, int i, int c) {
    return matrix_block(matrix_of(x->E + 6 * ROWS * i, 6, ROWS), 0, c, 6, 1);
}

/* Computes I^A, p^A and u of all links, from the tip to the base. */
static void minimize_inward(const mechanism *m, const arrays *x, const real *tau) {
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

/* Adds the terms of joint i to L and U of the base. */
static void add_response(const arrays *x, int i) {
    const world_link *l = &x->links[i];
    real rate[6], free_rate[6];
    const real *he = x->he + ROWS * l->v_index;
    KERNEL(joint_acceleration)(&x->joints[i], x->u + l->v_index, motion_zero(), free_rate);
    motion step = motion_add(l->c, KERNEL(world_rate)(l, free_rate));
    for (int c = 0; c < ROWS; c++) {
        real *U = matrix_at(x->U, c, 0);
        *U = *U + spatial_dot(step, KERNEL(matrix_force)(column_of(x, i, c)));
        KERNEL(joint_acceleration)(&x->joints[i], he + c * l->nv, motion_zero(), rate);
        for (int r = 0; r < ROWS; r++) {
            real *entry = matrix_at(x->L, r, c);
            for (int k = 0; k < l->nv; k++) {
                *entry = *entry + he[r * l->nv + k] * rate[k];
            }
        }
    }
}

/* Computes E of all links, and L and U of the base. */
static void propagate_constraints(const mechanism *m, const arrays *x) {
    KERNEL(matrix_clear)(x->L), KERNEL(matrix_clear)(x->U);
    if (m->count > 0) {
        KERNEL(matrix_identity)(matrix_of(x->E + 6 * ROWS * (m->count - 1), 6, ROWS));
    }
    for (int i = m->count - 1; i >= 0; i--) {
        const world_link *l = &x->links[i];
        real lost[6];
        for (int c = 0; c < ROWS; c++) {
            force E = KERNEL(matrix_force)(column_of(x, i, c));
            real *he = x->he + ROWS * l->v_index + c * l->nv;
            for (int k = 0; k < l->nv; k++) {
                he[k] = spatial_dot(l->h[k], E);
                lost[k] = -he[k];
            }
            if (i > 0) {
                KERNEL(matrix_set_force)(column_of(x, i - 1, c), KERNEL(add_gain)(&x->joints[i], lost, E));
            }
        }
        add_response(x, i);
    }
}

/* Computes the acceleration of the end effector for nu = 0, less that of the base: E_0' a_0 + U_0 - a_0, with
 * E_0 carried across joint 0 to the base. Without joints, it is zero. */
static motion free_acceleration(const mechanism *m, const arrays *x) {
    if (m->count == 0) {
        return motion_zero();
    }
    const world_link *l = &x->links[0];
    motion base = KERNEL(base_acceleration)(m), sum = motion_zero();
    real lost[6], *components[6] = {&sum.w.x, &sum.w.y, &sum.w.z, &sum.v.x, &sum.v.y, &sum.v.z};
    for (int c = 0; c < ROWS; c++) {
        for (int k = 0; k < l->nv; k++) {
            lost[k] = -x->he[c * l->nv + k];
        }
        force E = KERNEL(add_gain)(&x->joints[0], lost, KERNEL(matrix_force)(column_of(x, 0, c)));
        *components[c] = spatial_dot(base, E) + *matrix_at(x->U, c, 0);
    }
    return motion_fma(real_set(-1), base, sum);
}

/* Returns the share of the traces of the rotational and translational blocks of L that belongs to row r of C, which
 * measures its pivot. */
static real size_of_row(const arrays *x, int r) {
    real size = real_set(0);
    for (int j = 0; j < ROWS; j++) {
        int block = j < 3 ? 0 : 3;
        real trace = *matrix_at(x->L, block, block) + *matrix_at(x->L, block + 1, block + 1);
        trace = trace + *matrix_at(x->L, block + 2, block + 2);
        size = size + *matrix_at(x->C, r, j) * *matrix_at(x->C, r, j) * trace;
    }
    return size;
}

/* Solves A mu = mu for `count` constraints in place, with A = C L C', without the constraints whose pivot is zero, up
 * to rounding: no joint moves them, or they follow from those before. */
static void eliminate(const arrays *x, int count, matrix A, real *mu) {
    real rest[ROWS];
    for (int k = 0; k < count; k++) {
        real pivot = *matrix_at(A, k, k), least = real_set(reach) * size_of_row(x, k);
        real safe = real_where_positive(pivot - least, pivot, real_set(1));
        rest[k] = real_where_positive(pivot - least, real_set(1) / safe, real_set(0));
        for (int i = k + 1; i < count; i++) {
            real factor = *matrix_at(A, i, k) * rest[k];
            for (int j = k + 1; j < count; j++) {
                *matrix_at(A, i, j) = *matrix_at(A, i, j) - factor * *matrix_at(A, k, j);
            }
            mu[i] = mu[i] - factor * mu[k];
        }
    }
    for (int k = count - 1; k >= 0; k--) {
        for (int j = k + 1; j < count; j++) {
            mu[k] = mu[k] - *matrix_at(A, k, j) * mu[j];
        }
        mu[k] = mu[k] * rest[k];
    }
}

/* Computes the wrench nu = C' mu that enforces the constraints C A = target, where A is the unconstrained
 * acceleration and L nu: those of the mechanism, or A = 0 where it has none. */
static void solve_multipliers(const mechanism *m, const arrays *x, motion unconstrained) {
    int count = m->tip_count > 0 ? m->tip_count : ROWS;
    matrix C = matrix_block(x->C, 0, 0, count, ROWS), CL = matrix_block(x->CL, 0, 0, count, ROWS);
    matrix A = matrix_block(x->LDL, 0, 0, count, count), mu = matrix_block(x->mu, 0, 0, count, 1);
    KERNEL(matrix_identity)(x->C), KERNEL(matrix_clear)(x->mu);
    for (int r = 0; r < m->tip_count; r++) {
        *matrix_at(mu, r, 0) = real_set(m->tip[r].acceleration);
        for (int j = 0; j < ROWS; j++) {
            *matrix_at(C, r, j) = real_set(m->tip[r].direction[j]);
        }
    }
    KERNEL(matrix_set_motion)(x->nu, unconstrained);
    KERNEL(matrix_subtract_product)(C, x->nu, mu);
    KERNEL(matrix_product)(C, x->L, CL);
    KERNEL(matrix_product)(CL, matrix_transposed(C), A);
    eliminate(x, count, A, mu.x);
    KERNEL(matrix_product)(matrix_transposed(C), mu, x->nu);
}

/* Computes the accelerations of all links and joints from the base to the tip, with the multipliers nu, or without
 * constraints where nu is NULL. */
static void accelerate_outward(const mechanism *m, const arrays *x, const real *nu, real *a) {
    for (int i = 0; i < m->count; i++) {
        const world_link *l = &x->links[i];
        motion before = i == 0 ? KERNEL(base_acceleration)(m) : x->a[i - 1];
        real u[6];
        for (int k = 0; k < l->nv; k++) {
            u[k] = x->u[l->v_index + k];
            for (int c = 0; nu && c < ROWS; c++) {
                u[k] = u[k] + x->he[ROWS * l->v_index + c * l->nv + k] * nu[c];
            }
        }
        KERNEL(joint_acceleration)(&x->joints[i], u, before, a + l->v_index);
        x->a[i] = motion_add(before, motion_add(l->c, KERNEL(world_rate)(l, a + l->v_index)));
    }
}

static void forward(const mechanism *m, scratch *s, const real *v, const real *tau, real *a) {
    arrays x = take(m, v, s);
    minimize_inward(m, &x, tau);
    if (m->tip_count > 0) {
        propagate_constraints(m, &x);
        solve_multipliers(m, &x, free_acceleration(m, &x));
    }
    accelerate_outward(m, &x, m->tip_count > 0 ? x.nu.x : NULL, a);
}

/* Computes all inner quantities for the forces of the motion a, and the accelerations of the chain whose end effector
 * is held. */
static void coefficients(const mechanism *m, scratch *s, const real *v, const real *a, block_list *blocks) {
    arrays x = take(m, v, s);
    int n = m->count, nv = m->nv;
    real_clear(x.tau, nv);
    KERNEL(world_newton_euler)(m, x.links, a, x.a, x.pA, x.tau);
    minimize_inward(m, &x, x.tau);
    propagate_constraints(m, &x);
    solve_multipliers(m, &x, free_acceleration(m, &x));
    accelerate_outward(m, &x, x.nu.x, x.held);
    for (int i = 0; i < n; i++) {
        KERNEL(matrix_set_inertia)(matrix_of(x.IA_all + 36 * i, 6, 6), x.IA[i]);
    }
    KERNEL(add_block)
    (blocks, "I_A", block_of(n, 6, 6, 0), x.IA_all);
    KERNEL(add_block)(blocks, "p_A", block_of(n, 2, 3, 0), x.pA);
    KERNEL(add_block)
    (blocks, "E", block_of(n, 6, ROWS, 0), x.E);
    KERNEL(add_block)
    (blocks, "L", block_of(ROWS, ROWS, 0, 0), x.L.x);
    KERNEL(add_block)
    (blocks, "U", block_of(2, 3, 0, 0), x.U.x);
    KERNEL(add_block)(blocks, "nu", block_of(2, 3, 0, 0), x.nu.x);
    KERNEL(add_block)(blocks, "a_held", block_of(nv, 0, 0, 0), x.held);
    KERNEL(add_block)(blocks, "A_held", block_of(n, 2, 3, 0), x.a);
}

const formulation KERNEL(vereshchagin) = {
    {"vereshchagin", "Vereshchagin 1974; Featherstone and Orin 2000, section 2",
     DYN_FORMULATION_NEED_SERIAL_CHAIN | DYN_FORMULATION_NEED_INDEPENDENT, 1000, false, true, false, true},
    reserve,
    NULL,
    forward,
    NULL,
    coefficients,
};
