/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lagrange-Euler equations of motion with 4 x 4 transforms and separate coefficients:
 *     tau_i  = sum_k D_ik a_k + sum_k sum_m h_ikm v_k v_m + c_i                                               (2.5)
 *     D_ik   = sum over j >= max(i, k) of Tr(U_jk J_j U_ji')                                                  (2.11)
 *     h_ikm  = sum over j >= max(i, k, m) of Tr(U_jkm J_j U_ji')                                        (2.13, 2.14)
 *     c_i    = sum over j >= i of -m_j g' U_ji r_j                                                            (2.15)
 * A_j is the transform of link j in the base, U_ji = dA_j/dq_i, U_jkm = d^2 A_j/(dq_k dq_m), J_j the pseudo-inertia,
 * the integral of (r, 1)(r, 1)' dm, r_j the centre of mass and g gravity. With Q_i = [w~ v; 0 0] of the joint's unit
 * motion and T_mj, the transform of link j in link m,
 *     U_ji = A_i Q_i T_ij          U_jkm = U_mk Q_m T_mj  for k <= m.
 * Hence h_ikm = h_imk and h_iii = 0. The unit motion of a custom joint depends on q, so that h_iii is not zero:
 *     U_jmm = A_m (Q_m^2 + dQ_m/dq_m) T_mj.
 *
 * Source: Uicker 1965; Fu, Gonzalez and Lee 1987, chapter 3, with the equation numbers of a review of its three
 * formulations, where g is gravity in 2.15 and the acceleration of the base in tables 1 and 2. The chapter uses the
 * rows of Denavit and Hartenberg, for which Q_i stands before the transform; here the frames are any, and Q_i is that
 * of the joint's own axis in its link.
 */
#include "formulation.h"
#include "mat4.h"

/* Quantities of n links, as above. */
typedef struct transform_arrays {
    mat4 *A;  /* n */
    mat4 *QT; /* n x n: Q_i T_ij for i <= j */
    mat4 *U;  /* n x n: U_ji in row j, zero for i > j */
    mat4 *dQ; /* n x n: (dQ_i/dq_i) T_ij for i <= j and a custom joint i */
    mat4 *J;  /* n */
    real *D, *h, *c, *hv;
} transform_arrays;

static transform_arrays take_arrays(const mechanism *m, scratch *s) {
    transform_arrays t;
    size_t n = (size_t)m->count;
    t.A = (mat4 *)scratch_take(s, n, sizeof(mat4));
    t.QT = (mat4 *)scratch_take(s, n * n, sizeof(mat4));
    t.U = (mat4 *)scratch_take(s, n * n, sizeof(mat4));
    t.dQ = (mat4 *)scratch_take(s, n * n, sizeof(mat4));
    t.J = (mat4 *)scratch_take(s, n, sizeof(mat4));
    t.D = scratch_reals(s, n * n);
    t.h = scratch_reals(s, n * n * n);
    t.c = scratch_reals(s, n);
    t.hv = scratch_reals(s, n);
    return t;
}

static void reserve(const mechanism *m, scratch *s) {
    take_arrays(m, s);
}

/* Computes (dQ_i/dq_i) T_ij of the custom joints i <= j; X is the transform of link j in the one before. */
static void move_derivatives(const mechanism *m, int j, mat4 X, transform_arrays t) {
    int n = m->count;
    for (int i = 0; i <= j; i++) {
        if (m->links[i].is_custom) {
            t.dQ[i * n + j] = i < j ? mat4_multiply(t.dQ[i * n + j - 1], X) : mat4_of_motion(m->links[i].dS);
        }
    }
}

static void compute_transforms(const mechanism *m, transform_arrays t) {
    int n = m->count;
    for (int j = 0; j < n; j++) {
        mat4 X = mat4_of_placement(m->links[j].X);
        t.A[j] = j > 0 ? mat4_multiply(t.A[j - 1], X) : X;
        t.J[j] = mat4_of_inertia(m->links[j].b);
        for (int i = 0; i < n; i++) {
            t.U[j * n + i] = mat4_zero();
            t.QT[i * n + j] = i < j ? mat4_multiply(t.QT[i * n + j - 1], X) : mat4_zero();
        }
        t.QT[j * n + j] = mat4_of_motion(mechanism_column(m, j, 0));
        move_derivatives(m, j, X, t);
        for (int i = 0; i <= j; i++) {
            t.U[j * n + i] = mat4_multiply(t.A[i], t.QT[i * n + j]);
        }
    }
}

/* Adds the terms of link j to D (equation 2.11). */
static void add_inertias(int n, int j, transform_arrays t) {
    for (int k = 0; k <= j; k++) {
        mat4 UJ = mat4_multiply(t.U[j * n + k], t.J[j]);
        for (int i = 0; i <= k; i++) {
            real term = mat4_trace_product(UJ, t.U[j * n + i]);
            t.D[i * n + k] += term;
            if (i != k) {
                t.D[k * n + i] += term;
            }
        }
    }
}

/* Adds the terms of link j to h_ikm (equation 2.13). */
static void add_velocity_coefficients(const mechanism *of, int j, transform_arrays t) {
    int n = of->count;
    for (int m = 0; m <= j; m++) {
        for (int k = 0; k <= m; k++) {
            mat4 second = mat4_multiply(t.U[m * n + k], t.QT[m * n + j]);
            if (k == m && of->links[m].is_custom) {
                second = mat4_add(second, mat4_multiply(t.A[m], t.dQ[m * n + j]));
            }
            mat4 UJ = mat4_multiply(second, t.J[j]);
            for (int i = 0; i <= j; i++) {
                real term = mat4_trace_product(UJ, t.U[j * n + i]);
                t.h[(i * n + k) * n + m] += term;
                if (k != m) {
                    t.h[(i * n + m) * n + k] += term;
                }
            }
        }
    }
}

/* Adds the terms of link j to c (equation 2.15): -g' U_ji (m_j r_j). */
static void add_gravity(const mechanism *m, int j, transform_arrays t) {
    const real g[3] = {m->gravity.x, m->gravity.y, m->gravity.z};
    const mat4 *J = &t.J[j];
    for (int i = 0; i <= j; i++) {
        const real *U = t.U[j * m->count + i].e;
        for (int row = 0; row < 3; row++) {
            const real *u = U + 4 * row, *last = &J->e[12];
            real moved = u[0] * last[0] + u[1] * last[1] + u[2] * last[2] + u[3] * last[3];
            t.c[i] -= g[row] * moved;
        }
    }
}

static void compute_coefficients(const mechanism *m, transform_arrays t) {
    int n = m->count;
    real_clear(t.D, n * n), real_clear(t.h, n * n * n), real_clear(t.c, n);
    compute_transforms(m, t);
    for (int j = 0; j < n; j++) {
        add_inertias(n, j, t);
        add_velocity_coefficients(m, j, t);
        add_gravity(m, j, t);
    }
}

/* Computes h(q, v) of equation 2.12. */
static void compute_velocity_forces(int n, transform_arrays t, const real *v) {
    for (int i = 0; i < n; i++) {
        t.hv[i] = real_set(0);
        for (int k = 0; k < n; k++) {
            for (int m = 0; m < n; m++) {
                t.hv[i] += t.h[(i * n + k) * n + m] * v[k] * v[m];
            }
        }
    }
}

/* Computes tau. The coordinates of a serial chain of joints with one coordinate are numbered like its links. */
static void inverse(const mechanism *m, scratch *s, const real *v, const real *a, real *tau) {
    transform_arrays t = take_arrays(m, s);
    int n = m->count;
    compute_coefficients(m, t);
    compute_velocity_forces(n, t, v);
    for (int i = 0; i < n; i++) {
        tau[i] = t.hv[i] + t.c[i];
        for (int k = 0; k < n; k++) {
            tau[i] += t.D[i * n + k] * a[k];
        }
    }
}

static void mass_matrix(const mechanism *m, scratch *s, real *M) {
    transform_arrays t = take_arrays(m, s);
    int n = m->count;
    real_clear(t.D, n * n);
    compute_transforms(m, t);
    for (int j = 0; j < n; j++) {
        add_inertias(n, j, t);
    }
    for (int i = 0; i < n * n; i++) {
        M[i] = t.D[i];
    }
}

static void coefficients(const mechanism *m, scratch *s, const real *v, const real *a, block_list *blocks) {
    transform_arrays t = take_arrays(m, s);
    int n = m->count;
    (void)a;
    compute_coefficients(m, t);
    compute_velocity_forces(n, t, v);
    KERNEL(add_block)(blocks, "A", block_of(n, 4, 4, 0), t.A);
    KERNEL(add_block)(blocks, "U", block_of(n, n, 4, 4), t.U);
    KERNEL(add_block)(blocks, "J", block_of(n, 4, 4, 0), t.J);
    KERNEL(add_block)(blocks, "D", block_of(n, n, 0, 0), t.D);
    KERNEL(add_block)
    (blocks, "h_ikm", block_of(n, n, n, 0), t.h);
    KERNEL(add_block)(blocks, "h", block_of(n, 0, 0, 0), t.hv);
    KERNEL(add_block)(blocks, "c", block_of(n, 0, 0, 0), t.c);
}

const formulation KERNEL(lagrange_euler) = {
    {"lagrange_euler", "Uicker 1965; Fu, Gonzalez and Lee 1987, chapter 3",
     DYN_FORMULATION_NEED_SERIAL_CHAIN | DYN_FORMULATION_NEED_ONE_COORDINATE | DYN_FORMULATION_NEED_INDEPENDENT, 64,
     true, false, true, false},
    reserve,
    inverse,
    NULL,
    mass_matrix,
    coefficients,
};
