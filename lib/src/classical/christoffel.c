/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lagrangian equations of motion by Christoffel symbols of the first kind:
 *     tau_i     = sum_j M_ij a_j + sum_j sum_k Gamma_ijk v_j v_k + dP/dq_i                    (8.16)
 *     Gamma_ijk = (dM_ij/dq_k + dM_ik/dq_j - dM_jk/dq_i) / 2                                  (8.17)
 *     M         = sum over the links b of J_b' G_b J_b                                        (8.57)
 * Column i of the body Jacobian J_b, in the axes of link b, is the motion of the link per unit velocity of joint i. Its
 * derivative is the Lie bracket of two columns (exercise 8.6 b): dJ_bi/dq_k = [J_bi, J_bk] where joint i carries joint
 * k, zero otherwise. Hence, exactly,
 *     dM_ij/dq_k = sum over b of [J_bi, J_bk]' G_b J_bj + J_bi' G_b [J_bj, J_bk].
 * A custom joint, whose subspace S depends on q, also has dJ_bi/dq_i = dS_i/dq_i, in the axes of link b.
 * The Coriolis matrix is C_ij = sum_k Gamma_ijk v_k, so that dM/dt - 2 C is skew-symmetric.
 *
 * Source: Modern Robotics, section 8.1.2 and exercise 8.6. The velocities of a spherical joint, which has three degrees
 * of freedom, are no derivatives of coordinates, so that 8.16 does not hold for them.
 */
#include "formulation.h"

/* Quantities of the Lagrangian equations, as above, for n links and coordinates. */
typedef struct lagrangian_arrays {
    motion *J;                            /* n columns: body Jacobian J_b of the current link b */
    motion *dJ;                           /* n columns: dJ_bi/dq_i, not zero for custom joints alone */
    force *GJ;                            /* n columns: momenta G_b J_b */
    real *M, *dM, *gamma, *dP, *C, *rate; /* dM and gamma: n x n x n */
} lagrangian_arrays;

static lagrangian_arrays take_arrays(const mechanism *m, scratch *s) {
    lagrangian_arrays t;
    size_t n = (size_t)m->count;
    t.J = (motion *)scratch_take(s, n, sizeof(motion));
    t.dJ = (motion *)scratch_take(s, n, sizeof(motion));
    t.GJ = (force *)scratch_take(s, n, sizeof(force));
    t.M = scratch_reals(s, n * n);
    t.dM = scratch_reals(s, n * n * n);
    t.gamma = scratch_reals(s, n * n * n);
    t.dP = scratch_reals(s, n);
    t.C = scratch_reals(s, n * n);
    t.rate = scratch_reals(s, n * n);
    return t;
}

static void reserve(const mechanism *m, scratch *s) {
    take_arrays(m, s);
}

/* Moves the derivatives dJ of custom joints before link i to link i, and sets that of its own joint. */
static void move_derivatives(const mechanism *m, int i, lagrangian_arrays t) {
    for (int k = 0; k < i; k++) {
        if (m->links[k].is_custom && mechanism_carries(m, k, i)) {
            t.dJ[k] = motion_to_child(m->links[i].X, t.dJ[k]);
        }
    }
    if (m->links[i].is_custom) {
        t.dJ[i] = m->links[i].dS;
    }
}

/* Computes the columns of J_b and G_b J_b, zero for joints that do not carry link b, and dJ. Returns the acceleration
 * of gravity in the axes of link b. */
static vec3 compute_jacobian(const mechanism *m, int b, lagrangian_arrays t) {
    vec3 gravity = m->gravity;
    for (int i = 0; i < m->count; i++) {
        t.J[i] = motion_zero(), t.GJ[i] = force_zero();
    }
    for (int i = 0; i <= b; i++) {
        if (!mechanism_carries(m, i, b)) {
            continue;
        }
        placement X = m->links[i].X;
        gravity = mat3_apply_transposed(X.R, gravity);
        for (int k = 0; k < i; k++) {
            t.J[k] = mechanism_carries(m, k, i) ? motion_to_child(X, t.J[k]) : t.J[k];
        }
        t.J[i] = mechanism_column(m, i, 0);
        move_derivatives(m, i, t);
    }
    for (int i = 0; i <= b; i++) {
        if (mechanism_carries(m, i, b)) {
            t.GJ[i] = rigid_inertia_apply(m->links[b].I, t.J[i]);
        }
    }
    return gravity;
}

/* Adds J_bi' G_b x to dM_ij/dq_k and dM_ji/dq_k for all i, with x = dJ_bj/dq_k. */
static void add_derivative(const mechanism *m, int b, int j, int k, motion x, lagrangian_arrays t) {
    int n = m->count;
    for (int i = 0; i <= b; i++) {
        if (mechanism_carries(m, i, b)) {
            real term = spatial_dot(x, t.GJ[i]);
            t.dM[(i * n + j) * n + k] += term;
            t.dM[(j * n + i) * n + k] += term;
        }
    }
}

/* Adds the derivatives [J_bj, J_bk] of the columns j < k along q_k, and those of the columns of custom joints. */
static void add_derivatives(const mechanism *m, int b, lagrangian_arrays t) {
    for (int k = 0; k <= b; k++) {
        if (!mechanism_carries(m, k, b)) {
            continue;
        }
        for (int j = 0; j < k; j++) {
            if (mechanism_carries(m, j, b)) {
                add_derivative(m, b, j, k, motion_cross(t.J[j], t.J[k]), t);
            }
        }
        if (m->links[k].is_custom) {
            add_derivative(m, b, k, k, t.dJ[k], t);
        }
    }
}

/* Adds the terms of link b to M and to dP/dq_i = -m g . (velocity of the centre of mass per unit v_i). */
static void add_energies(const mechanism *m, int b, vec3 gravity, lagrangian_arrays t) {
    int n = m->count;
    const mechanism_link *l = &m->links[b];
    const force weight = force_set(vec3_cross(l->I.h, gravity), vec3_scale(l->mass, gravity));
    for (int i = 0; i <= b; i++) {
        if (!mechanism_carries(m, i, b)) {
            continue;
        }
        t.dP[i] -= spatial_dot(t.J[i], weight);
        for (int j = 0; j <= b; j++) {
            if (mechanism_carries(m, j, b)) {
                t.M[i * n + j] += spatial_dot(t.J[i], t.GJ[j]);
            }
        }
    }
}

static void compute_symbols(int n, lagrangian_arrays t) {
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            for (int k = 0; k < n; k++) {
                t.gamma[(i * n + j) * n + k] =
                    real_set(0.5) * (t.dM[(i * n + j) * n + k] + t.dM[(i * n + k) * n + j] - t.dM[(j * n + k) * n + i]);
            }
        }
    }
}

/* Computes M, dM/dq, Gamma and dP/dq; C and dM/dt at the velocity v. */
static void compute_lagrangian(const mechanism *m, const real *v, lagrangian_arrays t) {
    int n = m->count;
    real_clear(t.M, n * n), real_clear(t.dM, n * n * n), real_clear(t.dP, n);
    real_clear(t.C, n * n), real_clear(t.rate, n * n);
    for (int b = 0; b < n; b++) {
        vec3 gravity = compute_jacobian(m, b, t);
        add_energies(m, b, gravity, t);
        add_derivatives(m, b, t);
    }
    compute_symbols(n, t);
    for (int ij = 0; ij < n * n; ij++) {
        for (int k = 0; k < n; k++) {
            t.C[ij] += t.gamma[ij * n + k] * v[k];
            t.rate[ij] += t.dM[ij * n + k] * v[k];
        }
    }
}

static void inverse(const mechanism *m, scratch *s, const real *v, const real *a, real *tau) {
    lagrangian_arrays t = take_arrays(m, s);
    int n = m->count;
    compute_lagrangian(m, v, t);
    for (int i = 0; i < n; i++) {
        tau[i] = t.dP[i];
        for (int j = 0; j < n; j++) {
            tau[i] += t.M[i * n + j] * a[j] + t.C[i * n + j] * v[j];
        }
    }
}

static void mass_matrix(const mechanism *m, scratch *s, real *M) {
    lagrangian_arrays t = take_arrays(m, s);
    int n = m->count;
    t.M = M;
    real_clear(M, n * n), real_clear(t.dP, n);
    for (int b = 0; b < n; b++) {
        add_energies(m, b, compute_jacobian(m, b, t), t);
    }
}

static void coefficients(const mechanism *m, scratch *s, const real *v, const real *a, block_list *blocks) {
    lagrangian_arrays t = take_arrays(m, s);
    int n = m->count;
    (void)a;
    compute_lagrangian(m, v, t);
    KERNEL(add_block)(blocks, "M", block_of(n, n, 0, 0), t.M);
    KERNEL(add_block)(blocks, "dM_dq", block_of(n, n, n, 0), t.dM);
    KERNEL(add_block)
    (blocks, "Gamma", block_of(n, n, n, 0), t.gamma);
    KERNEL(add_block)(blocks, "C", block_of(n, n, 0, 0), t.C);
    KERNEL(add_block)(blocks, "dM_dt", block_of(n, n, 0, 0), t.rate);
    KERNEL(add_block)(blocks, "dP_dq", block_of(n, 0, 0, 0), t.dP);
}

const formulation KERNEL(christoffel) = {
    {"christoffel", "Modern Robotics, equations 8.13 to 8.19",
     DYN_FORMULATION_NEED_ONE_COORDINATE | DYN_FORMULATION_NEED_INDEPENDENT, 64, true, false, true, false},
    reserve,
    inverse,
    NULL,
    mass_matrix,
    coefficients,
};
