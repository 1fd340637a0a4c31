/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Book's recursive Lagrangian for serial chains of flexible links: 4 x 4 transforms and assumed modes. A point r of
 * link i is at h = (r + sum over its modes f of delta_f phi_f(r); 1) in the axes of the link, and at W_i h in the base.
 * A deflection displaces the next joint by phi_f and turns it by the small angles theta_f, as matrices N_f. Here x' is
 * the rate of x, and x^T its transpose:
 *
 *     A_i, E_i   rigid transform of joint i, and 1 + sum of delta_f N_f, the deflection at the end of link i
 *     W_i        = W_{i-1} T_i          T_i = E_{i-1} A_i          with the first and second rates of W_i
 *     b_f        = integral of (phi_f; 0) h^T dm = C_f + sum over g of delta_g P_fg
 *     B_i        = integral of h h^T dm = J_i + sum over f of delta_f (b_f + C_f^T)
 *
 * The dynamics are d'Alembert's: the force of a coordinate x is the integral of (dp/dx)^T p'' dm, for p = W h and
 * p'' = W'' h + 2 W' h' + W h''. The sums over all later links become recursions from the tip to the base:
 *
 *     D_i   = B_i W_i''^T + 2 (sum of delta_f' b_f^T) W_i'^T + (sum of delta_f'' b_f^T) W_i^T + T_{i+1} D_{i+1}
 *     tau_i = Tr(U_i D_i)                                                       U_i = W_i Q(S_i)
 *     0     = Tr(V_f D_{i+1}) + Tr(W_i (b_f W_i''^T + 2 sum of delta_g' P_fg W_i'^T + sum of delta_g'' P_fg W_i^T))
 *             + sum over g of K_fg delta_g                                      V_f = W_i N_f A_{i+1}
 *
 * The right side of the last line is the force of a mode that is not free. The inertia matrix comes from the second
 * moments of all links from i on, F_i = B_i + T_{i+1} F_{i+1} T_{i+1}^T. The column of a coordinate of link k is the
 * matrix R_k, which moves to earlier links as R_{i-1} = T_i R_i:
 *
 *     R_k  = F_k U_k^T for the joint, T_{k+1} F_{k+1} V_f^T + b_f^T W_k^T for a mode
 *     M_ic = Tr(U_i R_i) for joint i <= k, Tr(V_f R_{i+1}) for a mode of link i < k
 *     M_fg = Tr(V_f F_{k+1} V_g^T) + Tr(W_k P_fg W_k^T) for two modes of link k
 *
 * Forward dynamics solves for the accelerations by M = L D L^T. Gravity is the acceleration -g of the base, to which
 * that of a moving base adds. Deflections are small: E_i is linear in delta, so that a link does not shorten when it
 * bends. In the table of formulations all links are rigid; flexible_chain.h computes with modes.
 *
 * Source: Book 1984, Recursive Lagrangian dynamics of flexible manipulator arms, written from memory, with matrices C
 * and P that are the full integrals, not half of them; Featherstone and Orin 2000, section 2.
 */
#include "book_flexible.h"

#include "formulation.h"
#include "linear.h"
#include "mat4.h"

/* Transform and its first and second rates. */
typedef struct moving_frame {
    mat4 W, dW, ddW;
} moving_frame;

/* Quantities of the links, and b and V of the modes, as above. */
typedef struct arrays {
    mat4 *A, *T, *B, *F;
    mat4 *D; /* transposed */
    mat4 *b, *V;
    moving_frame *links;
} arrays;

static arrays take(const mechanism *m, const flexible_bodies *f, scratch *s) {
    arrays x;
    size_t count = (size_t)m->count, modes = (size_t)f->mode_count;
    x.A = (mat4 *)scratch_take(s, count, sizeof(mat4));
    x.T = (mat4 *)scratch_take(s, count, sizeof(mat4));
    x.B = (mat4 *)scratch_take(s, count, sizeof(mat4));
    x.F = (mat4 *)scratch_take(s, count, sizeof(mat4));
    x.D = (mat4 *)scratch_take(s, count, sizeof(mat4));
    x.b = (mat4 *)scratch_take(s, modes, sizeof(mat4));
    x.V = (mat4 *)scratch_take(s, modes, sizeof(mat4));
    x.links = (moving_frame *)scratch_take(s, count, sizeof(moving_frame));
    return x;
}

void KERNEL(book_reserve)(const mechanism *m, const flexible_bodies *f, scratch *s) {
    take(m, f, s);
    scratch_reals(s, (size_t)(m->nv + f->mode_count));
}

static flexible_body modes_of(const flexible_bodies *f, int i) {
    flexible_body rigid = {0, 0, NULL, NULL, NULL};
    return f->bodies ? f->bodies[i] : rigid;
}

/* ---- Motion, from the base to the tip ---------------------------------------------------------------------------- */

static moving_frame resting_frame(mat4 W) {
    moving_frame at;
    at.W = W, at.dW = mat4_zero(), at.ddW = mat4_zero();
    return at;
}

/* Returns the product of two transforms, with its rates. */
static moving_frame compose(moving_frame first, moving_frame second) {
    moving_frame product;
    mat4 mixed = mat4_multiply(first.dW, second.dW);
    product.W = mat4_multiply(first.W, second.W);
    product.dW = mat4_add(mat4_multiply(first.dW, second.W), mat4_multiply(first.W, second.dW));
    product.ddW = mat4_add(mat4_multiply(first.ddW, second.W), mat4_multiply(first.W, second.ddW));
    product.ddW = mat4_add(product.ddW, mat4_add(mixed, mixed));
    return product;
}

/* Returns the transform of the base, 1, with the rates [V] and [A] + [V]^2 of its motion. A includes -g. */
static moving_frame frame_of_base(const mechanism *m) {
    moving_frame base = resting_frame(mat4_of_placement(placement_identity()));
    motion A = motion_set(vec3_zero(), vec3_scale(real_set(-1), m->gravity));
    if (m->base_moves) {
        base.dW = mat4_of_motion(m->base_velocity);
        A = motion_add(A, m->base_acceleration);
    }
    base.ddW = mat4_of_motion(A);
    if (m->base_moves) {
        base.ddW = mat4_add(base.ddW, mat4_multiply(base.dW, base.dW));
    }
    return base;
}

/* Returns the transform of joint i and its rates. */
static moving_frame frame_of_joint(const mechanism *m, int i, const real *v, const real *a) {
    mat4 rate = mat4_of_motion(mechanism_rate(m, i, v)), step = mat4_of_motion(mechanism_change(m, i, v, a));
    moving_frame joint;
    joint.W = mat4_of_placement(m->links[i].X);
    joint.dW = mat4_multiply(joint.W, rate);
    joint.ddW = mat4_multiply(joint.W, mat4_add(mat4_multiply(rate, rate), step));
    return joint;
}

/* Returns the deflection at the end of a body and its rates. The motion is that of the modes of all bodies. */
static moving_frame frame_of_deflection(flexible_body flex, flexible_motion modes) {
    moving_frame end = resting_frame(mat4_of_placement(placement_identity()));
    for (int k = 0; k < flex.count; k++) {
        mat4 N = mat4_constant(flex.modes[k].N);
        int at = flex.first + k;
        end.W = mat4_fma(modes.x[at], N, end.W);
        end.dW = mat4_fma(modes.v[at], N, end.dW);
        end.ddW = mat4_fma(modes.a[at], N, end.ddW);
    }
    return end;
}

/* Computes b of the modes of body i and B. */
static void integrate_mass(const mechanism *m, flexible_body flex, const real *delta, int i, const arrays *x) {
    x->B[i] = mat4_of_inertia(m->links[i].b);
    for (int k = 0; k < flex.count; k++) {
        mat4 C = mat4_constant(flex.modes[k].C), b = C;
        for (int j = 0; j < flex.count; j++) {
            b = mat4_fma(delta[flex.first + j], mat4_constant(flex.P + 16 * (k * flex.count + j)), b);
        }
        x->b[flex.first + k] = b;
        x->B[i] = mat4_fma(delta[flex.first + k], mat4_add(b, mat4_transpose(C)), x->B[i]);
    }
}

/* Computes A, T, W, W', W'' and B of all links, and b and V of all modes. */
static void move(const mechanism *m, const flexible_bodies *f, const arrays *x, flexible_motion at) {
    moving_frame end = frame_of_base(m);
    flexible_motion modes;
    mat4 deflection = end.W;
    modes.x = at.x + m->nv, modes.v = at.v + m->nv, modes.a = at.a + m->nv;
    for (int i = 0; i < m->count; i++) {
        flexible_body flex = modes_of(f, i);
        moving_frame joint = frame_of_joint(m, i, at.v, at.a), bent = frame_of_deflection(flex, modes);
        x->A[i] = joint.W;
        x->T[i] = mat4_multiply(deflection, joint.W);
        x->links[i] = compose(end, joint);
        integrate_mass(m, flex, modes.x, i, x);
        end = compose(x->links[i], bent);
        deflection = bent.W;
    }
    for (int i = 0; i + 1 < m->count; i++) {
        flexible_body flex = modes_of(f, i);
        for (int k = 0; k < flex.count; k++) {
            mat4 turned = mat4_multiply(mat4_constant(flex.modes[k].N), x->A[i + 1]);
            x->V[flex.first + k] = mat4_multiply(x->links[i].W, turned);
        }
    }
}

/* ---- Forces, from the tip to the base ---------------------------------------------------------------------------- */

/* Returns W'' c' + 2 W' d' + W e', the transposed integral of a weight times the accelerations of the points, where c,
 * d and e are the integrals of the weight times h, h' and h''. */
static mat4 momentum_rate(moving_frame at, mat4 c, mat4 d, mat4 e) {
    mat4 mixed = mat4_multiply(at.dW, mat4_transpose(d));
    mat4 sum = mat4_add(mat4_multiply(at.ddW, mat4_transpose(c)), mat4_multiply(at.W, mat4_transpose(e)));
    return mat4_add(sum, mat4_add(mixed, mixed));
}

/* Computes D of link i, transposed. */
static void accumulate(const mechanism *m, flexible_body flex, flexible_motion modes, int i, const arrays *x) {
    mat4 rate = mat4_zero(), step = mat4_zero();
    for (int k = flex.first; k < flex.first + flex.count; k++) {
        mat4 weight = mat4_transpose(x->b[k]);
        rate = mat4_fma(modes.v[k], weight, rate);
        step = mat4_fma(modes.a[k], weight, step);
    }
    x->D[i] = momentum_rate(x->links[i], x->B[i], rate, step);
    if (i + 1 < m->count) {
        x->D[i] = mat4_add(x->D[i], mat4_multiply(x->D[i + 1], mat4_transpose(x->T[i + 1])));
    }
}

/* Returns the force of mode k of body i. */
static real force_of_mode(const mechanism *m, flexible_body flex, flexible_motion modes, int i, int k,
                          const arrays *x) {
    mat4 rate = mat4_zero(), step = mat4_zero();
    real sum = real_set(0);
    for (int j = 0; j < flex.count; j++) {
        int at = flex.first + j;
        mat4 P = mat4_constant(flex.P + 16 * (k * flex.count + j));
        rate = mat4_fma(modes.v[at], P, rate);
        step = mat4_fma(modes.a[at], P, step);
        sum = sum + real_set(flex.K[k * flex.count + j]) * modes.x[at];
    }
    mat4 own = momentum_rate(x->links[i], x->b[flex.first + k], rate, step);
    sum = sum + mat4_trace_product(x->links[i].W, own);
    if (i + 1 < m->count) {
        sum = sum + mat4_trace_product(x->V[flex.first + k], x->D[i + 1]);
    }
    return sum;
}

/* Returns U of the joint of link i. */
static mat4 change_of_joint(const mechanism *m, int i, const arrays *x) {
    return mat4_multiply(x->links[i].W, mat4_of_motion(mechanism_column(m, i, 0)));
}

static void compute_forces(const mechanism *m, const flexible_bodies *f, const arrays *x, flexible_motion at,
                           real *forces) {
    flexible_motion modes;
    modes.x = at.x + m->nv, modes.v = at.v + m->nv, modes.a = at.a + m->nv;
    move(m, f, x, at);
    for (int i = m->count - 1; i >= 0; i--) {
        flexible_body flex = modes_of(f, i);
        accumulate(m, flex, modes, i, x);
        forces[m->links[i].v_index] = mat4_trace_product(change_of_joint(m, i, x), x->D[i]);
        for (int k = 0; k < flex.count; k++) {
            forces[m->nv + flex.first + k] = force_of_mode(m, flex, modes, i, k, x);
        }
    }
}

void KERNEL(book_forces)(const mechanism *m, const flexible_bodies *f, scratch *s, flexible_motion at, real *forces) {
    arrays x = take(m, f, s);
    compute_forces(m, f, &x, at, forces);
}

/* ---- Inertia matrix ---------------------------------------------------------------------------------------------- */

/* Inertia matrix of `size` rows that is being filled. */
typedef struct symmetric_matrix {
    int size;
    real *M;
} symmetric_matrix;

static void set_entry(symmetric_matrix to, int row, int column, real value) {
    to.M[row * to.size + column] = value;
    to.M[column * to.size + row] = value;
}

/* Computes column c, of a coordinate of link k, in the rows of joint k and of all links before. R is R_k^T. */
static void fill_column(const mechanism *m, const flexible_bodies *f, const arrays *x, int k, int c, mat4 R,
                        symmetric_matrix to) {
    for (int i = k; i >= 0; i--) {
        set_entry(to, m->links[i].v_index, c, mat4_trace_product(change_of_joint(m, i, x), R));
        if (i > 0) {
            flexible_body before = modes_of(f, i - 1);
            for (int j = before.first; j < before.first + before.count; j++) {
                set_entry(to, m->nv + j, c, mat4_trace_product(x->V[j], R));
            }
            R = mat4_multiply(R, mat4_transpose(x->T[i]));
        }
    }
}

/* Computes the columns of the modes of link k. */
static void fill_modes(const mechanism *m, const flexible_bodies *f, const arrays *x, int k, symmetric_matrix to) {
    flexible_body flex = modes_of(f, k);
    bool is_last = k + 1 == m->count;
    mat4 W = x->links[k].W;
    for (int j = 0; j < flex.count; j++) {
        mat4 VF = is_last ? mat4_zero() : mat4_multiply(x->V[flex.first + j], x->F[k + 1]);
        mat4 R = mat4_multiply(W, x->b[flex.first + j]);
        for (int i = 0; i <= j; i++) {
            mat4 WP = mat4_multiply(W, mat4_constant(flex.P + 16 * (i * flex.count + j)));
            real value = mat4_trace_product(WP, W);
            if (!is_last) {
                value = value + mat4_trace_product(x->V[flex.first + i], VF);
            }
            set_entry(to, m->nv + flex.first + i, m->nv + flex.first + j, value);
        }
        if (!is_last) {
            R = mat4_add(R, mat4_multiply(VF, mat4_transpose(x->T[k + 1])));
        }
        fill_column(m, f, x, k, m->nv + flex.first + j, R, to);
    }
}

/* Computes F and the inertia matrix of a chain that has been moved. */
static void compute_inertia_matrix(const mechanism *m, const flexible_bodies *f, const arrays *x, real *M) {
    symmetric_matrix to;
    to.size = m->nv + f->mode_count, to.M = M;
    for (int i = m->count - 1; i >= 0; i--) {
        x->F[i] = x->B[i];
        if (i + 1 < m->count) {
            mat4 later = mat4_multiply(x->F[i + 1], mat4_transpose(x->T[i + 1]));
            x->F[i] = mat4_add(x->F[i], mat4_multiply(x->T[i + 1], later));
        }
        fill_modes(m, f, x, i, to);
        fill_column(m, f, x, i, m->links[i].v_index, mat4_multiply(change_of_joint(m, i, x), x->F[i]), to);
    }
}

/* Returns zeros for the rates of a chain at rest. */
static real *take_zeros(const mechanism *m, const flexible_bodies *f, scratch *s) {
    int size = m->nv + f->mode_count;
    real *zeros = scratch_reals(s, (size_t)size);
    real_clear(zeros, size);
    return zeros;
}

void KERNEL(book_inertia_matrix)(const mechanism *m, const flexible_bodies *f, scratch *s, const real *x, real *M) {
    arrays t = take(m, f, s);
    flexible_motion at;
    at.x = x, at.v = at.a = take_zeros(m, f, s);
    move(m, f, &t, at);
    compute_inertia_matrix(m, f, &t, M);
}

void KERNEL(book_accelerations)(const mechanism *m, const flexible_bodies *f, scratch *s, flexible_motion at,
                                const real *forces, real *M, real *a) {
    arrays t = take(m, f, s);
    int size = m->nv + f->mode_count;
    at.a = take_zeros(m, f, s);
    compute_forces(m, f, &t, at, a);
    compute_inertia_matrix(m, f, &t, M);
    for (int i = 0; i < size; i++) {
        a[i] = forces[i] - a[i];
    }
    KERNEL(factorize_symmetric)(size, M);
    KERNEL(solve_symmetric)(size, M, a);
}

/* ---- Row of the table: rigid links ------------------------------------------------------------------------------- */

static flexible_bodies rigid_bodies(void) {
    flexible_bodies none = {0, NULL};
    return none;
}

static void reserve(const mechanism *m, scratch *s) {
    flexible_bodies none = rigid_bodies();
    KERNEL(book_reserve)(m, &none, s);
    scratch_reals(s, (size_t)m->nv * (size_t)m->nv);
}

/* Returns the motion of rigid links. Positions of joints are those of the mechanism. */
static flexible_motion rigid_motion(const real *v, const real *a) {
    flexible_motion at;
    at.x = at.v = v, at.a = a;
    return at;
}

static void inverse(const mechanism *m, scratch *s, const real *v, const real *a, real *tau) {
    flexible_bodies none = rigid_bodies();
    KERNEL(book_forces)(m, &none, s, rigid_motion(v, a), tau);
}

static void forward(const mechanism *m, scratch *s, const real *v, const real *tau, real *a) {
    flexible_bodies none = rigid_bodies();
    real *M = scratch_reals(s, (size_t)m->nv * (size_t)m->nv);
    KERNEL(book_accelerations)(m, &none, s, rigid_motion(v, v), tau, M, a);
}

static void mass_matrix(const mechanism *m, scratch *s, real *M) {
    flexible_bodies none = rigid_bodies();
    real *zeros = take_zeros(m, &none, s);
    KERNEL(book_inertia_matrix)(m, &none, s, zeros, M);
}

static void coefficients(const mechanism *m, scratch *s, const real *v, const real *a, block_list *blocks) {
    flexible_bodies none = rigid_bodies();
    int n = m->count;
    real *M = scratch_reals(s, (size_t)m->nv * (size_t)m->nv);
    arrays x = take(m, &none, s);
    real *tau = scratch_reals(s, (size_t)m->nv);
    compute_forces(m, &none, &x, rigid_motion(v, a), tau);
    compute_inertia_matrix(m, &none, &x, M);
    for (int i = 0; i < n; i++) {
        x.D[i] = mat4_transpose(x.D[i]);
    }
    KERNEL(add_block)(blocks, "T", block_of(n, 4, 4, 0), x.T);
    KERNEL(add_block)
    (blocks, "W", block_of(n, 3, 4, 4), x.links);
    KERNEL(add_block)(blocks, "B", block_of(n, 4, 4, 0), x.B);
    KERNEL(add_block)(blocks, "F", block_of(n, 4, 4, 0), x.F);
    KERNEL(add_block)(blocks, "D", block_of(n, 4, 4, 0), x.D);
    KERNEL(add_block)(blocks, "M", block_of(m->nv, m->nv, 0, 0), M);
    KERNEL(add_block)(blocks, "tau", block_of(m->nv, 0, 0, 0), tau);
}

const formulation KERNEL(book_flexible) = {
    {"book_flexible", "Book 1984; Featherstone and Orin 2000, section 2",
     DYN_FORMULATION_NEED_SERIAL_CHAIN | DYN_FORMULATION_NEED_ONE_COORDINATE | DYN_FORMULATION_NEED_INDEPENDENT, 500,
     true, true, true, false},
    reserve,
    inverse,
    forward,
    mass_matrix,
    coefficients,
};
