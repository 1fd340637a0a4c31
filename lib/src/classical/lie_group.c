/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Newton-Euler equations on SE(3), recursive and in closed form. V_i is the twist of link i, F_i the wrench that its
 * joint transmits, A_i the screw axes of joint i, all in the axes of link i, and T_ip = e^(-[A_i] q_i) M_ip. S_i are
 * the screw axes at q = 0, where link i has the pose M_i, in the axes of the base.
 *     A_i  = Ad(M_i^-1) S_i                                                                                (8.50)
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
 * The axes A of a custom joint depend on q: dV_i gains dA_i/dt v, [ad_Av] W L A loses dA/dt in 8.79 and in B.
 * The acceleration of the base is dV_base = (0; -g), turned to the axes of the links at the base.
 *
 * Source: Modern Robotics, sections 8.3 and 8.4, for trees and joints with several axes; twists and wrenches are
 * angular first. The frame of a link is at its joint here and at its centre of mass in the book, so that G_i is not
 * block diagonal here. Printed mistakes: both terms with [ad_Av] in 8.74 are negative, as 8.69 and 8.79 state, and
 * exercise 8.7 prints a matrix that is not symmetric.
 */
#include "formulation.h"
#include "matrix.h"

/* Twists, accelerations and wrenches of the recursion. */
typedef struct recursion_arrays {
    motion *V, *dV;
    force *F;
} recursion_arrays;

/* Closed matrices, N = 6 n: square ones are N x N, S, A, J, K, WJ and bracket N x nv, M, B and rate are nv x nv. */
typedef struct closed_arrays {
    matrix S, A, G, W, L, adAv, J, K, WJ, bracket, M, B, rate;
    matrix base, stacked, v, c, g; /* columns of N, N, nv, nv and nv numbers */
    real *q;                       /* zero configuration */
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
    int N = 6 * m->count, nv = m->nv;
    t.A = matrix_take(s, N, nv), t.J = matrix_take(s, N, nv), t.K = matrix_take(s, N, nv);
    t.G = matrix_take(s, N, N), t.W = matrix_take(s, N, N), t.L = matrix_take(s, N, N);
    t.adAv = matrix_take(s, N, N);
    t.M = matrix_take(s, nv, nv), t.B = matrix_take(s, nv, nv), t.rate = matrix_take(s, nv, nv);
    t.S = matrix_take(s, N, nv), t.WJ = matrix_take(s, N, nv), t.bracket = matrix_take(s, N, nv);
    t.base = matrix_take(s, N, 1), t.stacked = matrix_take(s, N, 1);
    t.v = matrix_take(s, nv, 1), t.c = matrix_take(s, nv, 1), t.g = matrix_take(s, nv, 1);
    t.q = scratch_reals(s, (size_t)m->model->nq);
    return t;
}

/* Places the links at q = 0. */
static mechanism place_home(const mechanism *m, const closed_arrays *t, scratch *s) {
    static const double gravity[3] = {0, 0, 0};
    for (int i = 0; s->block && i < m->count; i++) {
        const body *b = m->links[i].b;
        real_clear(t->q + b->q_index, b->nq);
        if (b->motion == MOTION_SPHERICAL || b->motion == MOTION_FLOATING) {
            t->q[b->q_index + b->nq - 1] = real_set(1);
        }
    }
    return KERNEL(mechanism_at)(m->model, gravity, t->q, s);
}

static void reserve(const mechanism *m, scratch *s) {
    take_recursion(m, s);
    closed_arrays t = take_matrices(m, s);
    place_home(m, &t, s);
}

static void run_recursion(const mechanism *m, recursion_arrays t, const real *v, const real *a, real *tau) {
    const motion base = motion_set(vec3_zero(), vec3_scale(real_set(-1), m->gravity));
    for (int i = 0; i < m->count; i++) {
        const mechanism_link *l = &m->links[i];
        motion Av = mechanism_rate(m, i, v);
        t.V[i] = l->parent >= 0 ? motion_add(motion_to_child(l->X, t.V[l->parent]), Av) : Av;
        t.dV[i] = motion_to_child(l->X, l->parent >= 0 ? t.dV[l->parent] : base);
        t.dV[i] = motion_add(t.dV[i], motion_add(motion_cross(t.V[i], Av), mechanism_change(m, i, v, a)));
        /* -ad(V)' is the cross product V x*. */
        t.F[i] = force_add(rigid_inertia_apply(l->I, t.dV[i]), force_cross(t.V[i], rigid_inertia_apply(l->I, t.V[i])));
        t.F[i] = mechanism_subtract_external(m, i, t.F[i]);
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

/* Stores a motion in column j of rows 6 i to 6 i + 5. */
static void set_motion(matrix A, int i, int j, motion x) {
    KERNEL(matrix_set_motion)(matrix_block(A, 6 * i, j, 6, 1), x);
}

/* Sets the 6 x 6 blocks of link i in G, W and [ad_Av], and its rows of A and dV_base. */
static void set_blocks(const mechanism *m, int i, const real *v, closed_arrays t) {
    const mechanism_link *l = &m->links[i];
    motion Av = mechanism_rate(m, i, v);
    for (int j = 0; j < 6; j++) {
        motion unit = axis_motion((spatial_axis)j);
        force f = rigid_inertia_apply(l->I, unit);
        set_motion(t.G, i, 6 * i + j, motion_set(f.n, f.f));
        set_motion(t.adAv, i, 6 * i + j, motion_cross(Av, unit));
        if (l->parent >= 0) {
            set_motion(t.W, i, 6 * l->parent + j, motion_to_child(l->X, unit));
        }
    }
    for (int k = 0; k < l->nv; k++) {
        set_motion(t.A, i, l->v_index + k, mechanism_column(m, i, k));
    }
    if (l->parent < 0) {
        motion up = motion_set(vec3_zero(), vec3_scale(real_set(-1), m->gravity));
        set_motion(t.base, i, 0, motion_to_child(l->X, up));
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
                sum += *matrix_at(t.W, row, k) * *matrix_at(t.L, k, column);
            }
            *matrix_at(t.L, row, column) = sum;
        }
    }
}

/* Computes A, G, W, L, [ad_Av], J = L A and M = J' G J. */
static void compute_matrices(const mechanism *m, const real *v, closed_arrays t) {
    KERNEL(matrix_clear)(t.A), KERNEL(matrix_clear)(t.base);
    KERNEL(matrix_clear)(t.G), KERNEL(matrix_clear)(t.W), KERNEL(matrix_clear)(t.adAv);
    for (int i = 0; i < m->count; i++) {
        set_blocks(m, i, v, t);
    }
    compute_propagation(m, t);
    KERNEL(matrix_product)(t.L, t.A, t.J);
    KERNEL(matrix_product)(t.G, t.J, t.K);
    KERNEL(matrix_product)(matrix_transposed(t.J), t.K, t.M);
}

static void mass_matrix(const mechanism *m, scratch *s, real *M) {
    take_recursion(m, s);
    closed_arrays t = take_matrices(m, s);
    t.M = matrix_of(M, m->nv, m->nv);
    KERNEL(matrix_clear)(t.v);
    compute_matrices(m, t.v.x, t);
}

/* Computes the home screws S: the columns of A at q = 0, in the base. */
static void compute_home_screws(const mechanism *m, scratch *s, closed_arrays t) {
    mechanism home = place_home(m, &t, s);
    KERNEL(matrix_clear)(t.S);
    for (int i = 0; i < home.count; i++) {
        mechanism_link *l = &home.links[i];
        l->X = l->parent < 0 ? l->X : placement_compose(home.links[l->parent].X, l->X);
        for (int k = 0; k < l->nv; k++) {
            set_motion(t.S, i, l->v_index + k, motion_to_parent(l->X, mechanism_column(m, i, k)));
        }
    }
}

/* Subtracts dA/dt, which custom joints have. */
static void subtract_axis_rates(const mechanism *m, const real *v, matrix bracket) {
    for (int i = 0; i < m->count; i++) {
        const mechanism_link *l = &m->links[i];
        if (l->is_custom) {
            matrix column = matrix_block(bracket, 6 * i, l->v_index, 6, 1);
            KERNEL(matrix_set_motion)(column, motion_fma(-v[l->v_index], l->dS, KERNEL(matrix_motion)(column)));
        }
    }
}

/* Computes B, and dM/dt = -(B + B'). */
static void compute_rate(const mechanism *m, const real *v, closed_arrays t) {
    KERNEL(matrix_product)(t.W, t.J, t.WJ);
    KERNEL(matrix_product)(t.adAv, t.WJ, t.bracket);
    subtract_axis_rates(m, v, t.bracket);
    KERNEL(matrix_product)(t.L, t.bracket, t.WJ);
    KERNEL(matrix_product)(matrix_transposed(t.K), t.WJ, t.B);
    for (int i = 0; i < m->nv; i++) {
        for (int j = 0; j < m->nv; j++) {
            *matrix_at(t.rate, i, j) = -(*matrix_at(t.B, i, j) + *matrix_at(t.B, j, i));
        }
    }
}

/* Computes g of equation 8.80, and c of 8.79, whose first term is -B v. */
static void compute_bias(const mechanism *m, const real *v, closed_arrays t, const recursion_arrays r) {
    KERNEL(matrix_product)(t.L, t.base, t.stacked);
    KERNEL(matrix_product)(matrix_transposed(t.K), t.stacked, t.g);
    for (int i = 0; i < m->count; i++) {
        force f = force_cross(r.V[i], rigid_inertia_apply(m->links[i].I, r.V[i]));
        set_motion(t.stacked, i, 0, motion_set(f.n, f.f));
    }
    for (int k = 0; k < m->nv; k++) {
        t.v.x[k] = v[k];
    }
    KERNEL(matrix_product)(matrix_transposed(t.J), t.stacked, t.c);
    KERNEL(matrix_subtract_product)(t.B, t.v, t.c);
}

static void coefficients(const mechanism *m, scratch *s, const real *v, const real *a, block_list *blocks) {
    recursion_arrays r = take_recursion(m, s);
    closed_arrays t = take_matrices(m, s);
    int n = m->count, N = 6 * n, nv = m->nv;
    KERNEL(matrix_clear)(t.c);
    run_recursion(m, r, v, a, t.c.x);
    compute_matrices(m, v, t);
    compute_rate(m, v, t);
    compute_bias(m, v, t, r);
    compute_home_screws(m, s, t);
    KERNEL(add_block)(blocks, "S", block_of(N, nv, 0, 0), t.S.x);
    KERNEL(add_block)(blocks, "A", block_of(N, nv, 0, 0), t.A.x);
    KERNEL(add_block)(blocks, "G", block_of(N, N, 0, 0), t.G.x);
    KERNEL(add_block)(blocks, "W", block_of(N, N, 0, 0), t.W.x);
    KERNEL(add_block)(blocks, "L", block_of(N, N, 0, 0), t.L.x);
    KERNEL(add_block)(blocks, "ad_Av", block_of(N, N, 0, 0), t.adAv.x);
    KERNEL(add_block)(blocks, "LA", block_of(N, nv, 0, 0), t.J.x);
    KERNEL(add_block)(blocks, "V", block_of(n, 6, 0, 0), r.V);
    KERNEL(add_block)(blocks, "dV", block_of(n, 6, 0, 0), r.dV);
    KERNEL(add_block)(blocks, "F", block_of(n, 6, 0, 0), r.F);
    KERNEL(add_block)(blocks, "M", block_of(nv, nv, 0, 0), t.M.x);
    KERNEL(add_block)(blocks, "c", block_of(nv, 0, 0, 0), t.c.x);
    KERNEL(add_block)(blocks, "g", block_of(nv, 0, 0, 0), t.g.x);
    KERNEL(add_block)(blocks, "dM_dt", block_of(nv, nv, 0, 0), t.rate.x);
}

const formulation KERNEL(lie_group) = {
    {"lie_group", "Modern Robotics, equations 8.50 to 8.80", 0, 100, true, false, true, true},
    reserve,
    inverse,
    NULL,
    mass_matrix,
    coefficients,
};
