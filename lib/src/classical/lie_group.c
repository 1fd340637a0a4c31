/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Newton-Euler equations on SE(3), recursive and in closed form. V_i is the twist of link i, F_i the wrench that its
 * joint transmits, A_i the screw axes of joint i, all in the axes of link i, and T_ip = e^(-[A_i] q_i) M_ip.
 *     V_i  = Ad(T_ip) V_p + A_i v                                                                          (8.51)
 *     dV_i = Ad(T_ip) dV_p + ad(V_i) A_i v + A_i a                                                         (8.52)
 *     F_i  = sum over the children of Ad(T_ci)' F_c + G_i dV_i - ad(V_i)' G_i V_i                          (8.53)
 *     tau  = A_i' F_i                                                                                      (8.54)
 *     M    = sum over the links of J_i' G_i J_i, with J = L A stacked                                      (8.57)
 * Stacked over the links, with W the matrix of the Ad(T_ip) and L = (I - W)^-1:
 *     M = A' L' G L A                                                                                      (8.78)
 *     c = -A' L' (G L [ad_Av] W + [ad_V]' G) L A v                                                         (8.79)
 *     g = A' L' G L dV_base                                                                                (8.80)
 *     dM/dt = -(B + B')    with    B = A' L' G L [ad_Av] W L A                                     (exercise 8.7)
 * The acceleration of the base is dV_base = (0; -g), turned to the axes of the links at the base.
 *
 * Source: Modern Robotics, sections 8.3 and 8.4, for trees and joints with several axes; twists and wrenches are
 * angular first. The frame of a link is at its joint here and at its centre of mass in the book, so that G_i is not
 * block diagonal here. Printed mistakes: both terms with [ad_Av] in 8.74 are negative, as 8.69 and 8.79 state, and
 * exercise 8.7 prints a matrix that is not symmetric.
 */
#include "formulation.h"
#include "linear.h"

/* Twists, accelerations and wrenches of the recursion. */
typedef struct recursion_arrays {
    motion *V, *dV;
    force *F;
} recursion_arrays;

/* Closed matrices, N = 6 n: square ones are N x N, A, J and K are N x nv, M, B and rate are nv x nv. */
typedef struct closed_arrays {
    real *A, *G, *W, *L, *adAv, *J, *K, *M, *B, *rate;
    real *base, *stacked, *product, *c, *g, *tau; /* N, N, N, nv, nv, nv */
} closed_arrays;

static recursion_arrays take_recursion(const mechanism *m, scratch *s) {
    recursion_arrays t;
    size_t n = (size_t)m->count;
    t.V = (motion *)scratch_take(s, n, sizeof(motion));
    t.dV = (motion *)scratch_take(s, n, sizeof(motion));
    t.F = (force *)scratch_take(s, n, sizeof(force));
    return t;
}

static closed_arrays take_matrices(const mechanism *m, scratch *s) {
    closed_arrays t;
    size_t N = 6 * (size_t)m->count, nv = (size_t)m->nv;
    t.A = scratch_reals(s, N * nv), t.J = scratch_reals(s, N * nv), t.K = scratch_reals(s, N * nv);
    t.G = scratch_reals(s, N * N), t.W = scratch_reals(s, N * N), t.L = scratch_reals(s, N * N);
    t.adAv = scratch_reals(s, N * N);
    t.M = scratch_reals(s, nv * nv), t.B = scratch_reals(s, nv * nv), t.rate = scratch_reals(s, nv * nv);
    t.base = scratch_reals(s, N), t.stacked = scratch_reals(s, N), t.product = scratch_reals(s, N);
    t.c = scratch_reals(s, nv), t.g = scratch_reals(s, nv), t.tau = scratch_reals(s, nv);
    return t;
}

static void reserve(const mechanism *m, scratch *s) {
    take_recursion(m, s);
    take_matrices(m, s);
}

static void run_recursion(const mechanism *m, recursion_arrays t, const real *v, const real *a, real *tau) {
    const motion base = motion_set(vec3_zero(), vec3_scale(real_set(-1), m->gravity));
    for (int i = 0; i < m->count; i++) {
        const mechanism_link *l = &m->links[i];
        motion Av = mechanism_rate(m, i, v);
        t.V[i] = l->parent >= 0 ? motion_add(motion_to_child(l->X, t.V[l->parent]), Av) : Av;
        t.dV[i] = motion_to_child(l->X, l->parent >= 0 ? t.dV[l->parent] : base);
        t.dV[i] = motion_add(t.dV[i], motion_add(motion_cross(t.V[i], Av), mechanism_rate(m, i, a)));
        /* -ad(V)' is the cross product V x*. */
        t.F[i] = force_add(rigid_inertia_apply(l->I, t.dV[i]), force_cross(t.V[i], rigid_inertia_apply(l->I, t.V[i])));
    }
    for (int i = m->count - 1; i >= 0; i--) {
        const mechanism_link *l = &m->links[i];
        mechanism_add_force(m, i, t.F[i], tau);
        if (l->parent >= 0) {
            t.F[l->parent] = force_add(t.F[l->parent], force_to_parent(l->X, t.F[i]));
        }
    }
}

static void inverse(const mechanism *m, scratch *s, const real *v, const real *a, real *tau) {
    run_recursion(m, take_recursion(m, s), v, a, tau);
}

/* Adds a motion to column j of six rows of a matrix with `columns` columns. */
static void add_motion(real *rows, int columns, int j, motion x) {
    const real parts[6] = {x.w.x, x.w.y, x.w.z, x.v.x, x.v.y, x.v.z};
    for (int i = 0; i < 6; i++) {
        rows[i * columns + j] += parts[i];
    }
}

/* Sets the 6 x 6 blocks of link i in G, W and [ad_Av], and its rows of A and dV_base. */
static void set_blocks(const mechanism *m, int i, const real *v, closed_arrays t) {
    const mechanism_link *l = &m->links[i];
    int N = 6 * m->count, at = 6 * i;
    motion Av = mechanism_rate(m, i, v);
    for (int j = 0; j < 6; j++) {
        motion unit = axis_motion((spatial_axis)j);
        force f = rigid_inertia_apply(l->I, unit);
        add_motion(t.G + at * N, N, at + j, motion_set(f.n, f.f));
        add_motion(t.adAv + at * N, N, at + j, motion_cross(Av, unit));
        if (l->parent >= 0) {
            add_motion(t.W + at * N, N, 6 * l->parent + j, motion_to_child(l->X, unit));
        }
    }
    for (int k = 0; k < l->nv; k++) {
        add_motion(t.A + at * m->nv, m->nv, l->v_index + k, mechanism_column(m, i, k));
    }
    if (l->parent < 0) {
        motion up = motion_set(vec3_zero(), vec3_scale(real_set(-1), m->gravity));
        add_motion(t.base + at, 1, 0, motion_to_child(l->X, up));
    }
}

/* Computes L from L = I + W L, row by row: the rows of link i follow from those of its parent. */
static void compute_propagation(const mechanism *m, closed_arrays t) {
    int N = 6 * m->count;
    for (int row = 0; row < N; row++) {
        int parent = m->links[row / 6].parent;
        for (int column = 0; column < N; column++) {
            real sum = real_set(row == column);
            for (int k = 6 * parent; parent >= 0 && k < 6 * parent + 6; k++) {
                sum += t.W[row * N + k] * t.L[k * N + column];
            }
            t.L[row * N + column] = sum;
        }
    }
}

/* Computes A, G, W, L, [ad_Av], J = L A and M = J' G J. */
static void compute_matrices(const mechanism *m, const real *v, closed_arrays t) {
    int N = 6 * m->count, nv = m->nv;
    real_clear(t.A, N * nv), real_clear(t.base, N);
    real_clear(t.G, N * N), real_clear(t.W, N * N), real_clear(t.adAv, N * N);
    for (int i = 0; i < m->count; i++) {
        set_blocks(m, i, v, t);
    }
    compute_propagation(m, t);
    KERNEL(multiply)(N, N, nv, t.L, t.A, t.J);
    KERNEL(multiply)(N, N, nv, t.G, t.J, t.K);
    KERNEL(multiply_transposed)(nv, N, nv, t.J, t.K, t.M);
}

static void mass_matrix(const mechanism *m, scratch *s, real *M) {
    take_recursion(m, s);
    closed_arrays t = take_matrices(m, s);
    t.M = M;
    real_clear(t.tau, m->nv);
    compute_matrices(m, t.tau, t);
}

/* Computes y = J' G L x for a stacked motion x: the forces of the joints that accelerate the links by L x. */
static void accelerate_links(int N, int nv, closed_arrays t, const real *x, real *y) {
    KERNEL(multiply)(N, N, 1, t.L, x, t.product);
    KERNEL(multiply_transposed)(nv, N, 1, t.K, t.product, y);
}

/* Computes c of equation 8.79 and g of 8.80. */
static void compute_bias(const mechanism *m, const real *v, closed_arrays t, const recursion_arrays r) {
    int N = 6 * m->count, nv = m->nv;
    accelerate_links(N, nv, t, t.base, t.g);
    KERNEL(multiply)(N, nv, 1, t.J, v, t.stacked);
    KERNEL(multiply)(N, N, 1, t.W, t.stacked, t.product);
    KERNEL(multiply)(N, N, 1, t.adAv, t.product, t.stacked);
    accelerate_links(N, nv, t, t.stacked, t.c);
    /* [ad_V]' G V, link by link. */
    for (int i = 0; i < m->count; i++) {
        force f = force_cross(r.V[i], rigid_inertia_apply(m->links[i].I, r.V[i]));
        real_clear(t.stacked + 6 * i, 6);
        add_motion(t.stacked + 6 * i, 1, 0, motion_set(f.n, f.f));
    }
    KERNEL(multiply_transposed)(nv, N, 1, t.J, t.stacked, t.tau);
    for (int k = 0; k < nv; k++) {
        t.c[k] = t.tau[k] - t.c[k];
    }
}

/* Computes dM/dt = -(B + B') from the results of compute_matrices. Overwrites t.stacked, t.product and t.tau. */
static void compute_rate(const mechanism *m, closed_arrays t) {
    int N = 6 * m->count, nv = m->nv;
    for (int j = 0; j < nv; j++) {
        for (int i = 0; i < N; i++) {
            t.stacked[i] = t.J[i * nv + j];
        }
        KERNEL(multiply)(N, N, 1, t.W, t.stacked, t.product);
        KERNEL(multiply)(N, N, 1, t.adAv, t.product, t.stacked);
        accelerate_links(N, nv, t, t.stacked, t.tau);
        for (int i = 0; i < nv; i++) {
            t.B[i * nv + j] = t.tau[i];
        }
    }
    for (int i = 0; i < nv; i++) {
        for (int j = 0; j < nv; j++) {
            t.rate[i * nv + j] = -(t.B[i * nv + j] + t.B[j * nv + i]);
        }
    }
}

static void coefficients(const mechanism *m, scratch *s, const real *v, const real *a, block_list *blocks) {
    recursion_arrays r = take_recursion(m, s);
    closed_arrays t = take_matrices(m, s);
    int n = m->count, N = 6 * n, nv = m->nv;
    real_clear(t.tau, nv);
    run_recursion(m, r, v, a, t.tau);
    compute_matrices(m, v, t);
    compute_bias(m, v, t, r);
    compute_rate(m, t);
    KERNEL(add_block)(blocks, "A", "screw axes, stacked, link axes", block_of(N, nv, 0, 0), t.A);
    KERNEL(add_block)(blocks, "G", "spatial inertias, block diagonal", block_of(N, N, 0, 0), t.G);
    KERNEL(add_block)(blocks, "W", "Ad(T_ip) of each link and its parent", block_of(N, N, 0, 0), t.W);
    KERNEL(add_block)(blocks, "L", "(I - W)^-1", block_of(N, N, 0, 0), t.L);
    KERNEL(add_block)(blocks, "ad_Av", "Lie brackets with A v, block diagonal", block_of(N, N, 0, 0), t.adAv);
    KERNEL(add_block)(blocks, "LA", "body Jacobians of all links, stacked", block_of(N, nv, 0, 0), t.J);
    KERNEL(add_block)(blocks, "V", "twist of each link (w; v)", block_of(n, 6, 0, 0), r.V);
    KERNEL(add_block)(blocks, "dV", "its rate, less gravity", block_of(n, 6, 0, 0), r.dV);
    KERNEL(add_block)(blocks, "F", "wrench that each joint transmits (n; f)", block_of(n, 6, 0, 0), r.F);
    KERNEL(add_block)(blocks, "M", "mass matrix A' L' G L A", block_of(nv, nv, 0, 0), t.M);
    KERNEL(add_block)(blocks, "c", "Coriolis and centrifugal forces", block_of(nv, 0, 0, 0), t.c);
    KERNEL(add_block)(blocks, "g", "gravity forces", block_of(nv, 0, 0, 0), t.g);
    KERNEL(add_block)(blocks, "dM_dt", "rate of the mass matrix", block_of(nv, nv, 0, 0), t.rate);
}

const formulation KERNEL(lie_group) = {
    {"lie_group", "Modern Robotics, equations 8.50 to 8.80", 0, 100, true, false, true},
    reserve,
    inverse,
    NULL,
    mass_matrix,
    coefficients,
};
