/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Generalized d'Alembert equations of motion of a serial chain of revolute joints:
 *     tau_i = sum_j D_ij a_j + h_tran,i + h_rot,i + c_i
 * z_i is the axis and p_i the origin of joint i, r_s the centre of mass of link s, p*_k = p_(k+1) - p_k and
 * c_s = r_s - p_s; I_s is the inertia about r_s. With the lever b_si = z_i x (r_s - p_i):
 *     D_ij     = sum over s >= max(i, j) of  z_i' I_s z_j + m_s b_sj . b_si                                  (4.2)
 *     h_tran,i = sum over s >= i of m_s b_si . {
 *                sum over k < s of   w_k x (w_k x p*_k)     centrifugal, from the links below
 *                                  + dw_k x p*_k            Coriolis, from the links below
 *                + w_s x (w_s x c_s)                        centrifugal, of the link itself
 *                + dw_s x c_s }                             Coriolis, of the link itself                     (4.3)
 *     h_rot,i  = sum over s >= i of z_i' I_s dw_s + (z_i x w_s)' I_s w_s                                     (4.4)
 *     c_i      = -g . (z_i x sum over j >= i of m_j (r_j - p_i))                                             (4.5)
 * where w_s = sum over p <= s of z_p v_p and dw_s = sum over p <= s of w_(p-1) x z_p v_p. h_tran + h_rot is C v.
 *
 * Source: Lee, Lee and Nigam 1983; Fu, Gonzalez and Lee 1987, chapter 3, with the equation numbers of a review of its
 * three formulations. These number z and p one lower, since frame i of Denavit and Hartenberg is at the far end of
 * link i. All vectors are in base axes.
 */
#include "formulation.h"

enum { TRANSLATIONAL_TERMS = 4 };

/* Quantities of n links and joints, as above, in base axes. */
typedef struct vector_arrays {
    vec3 *z, *p, *r, *w, *dw;
    sym3 *I;    /* inertias about the centres of mass, base axes */
    vec3 *term; /* n x 4: the braces of 4.3 */
    real *D, *h_tran, *h_rot, *c, *h_terms;
} vector_arrays;

static vector_arrays take_arrays(const mechanism *m, scratch *s) {
    vector_arrays t;
    size_t n = (size_t)m->count;
    t.z = (vec3 *)scratch_take(s, n, sizeof(vec3));
    t.p = (vec3 *)scratch_take(s, n, sizeof(vec3));
    t.r = (vec3 *)scratch_take(s, n, sizeof(vec3));
    t.w = (vec3 *)scratch_take(s, n, sizeof(vec3));
    t.dw = (vec3 *)scratch_take(s, n, sizeof(vec3));
    t.I = (sym3 *)scratch_take(s, n, sizeof(sym3));
    t.term = (vec3 *)scratch_take(s, n * TRANSLATIONAL_TERMS, sizeof(vec3));
    t.D = scratch_reals(s, n * n);
    t.h_tran = scratch_reals(s, n);
    t.h_rot = scratch_reals(s, n);
    t.c = scratch_reals(s, n);
    t.h_terms = scratch_reals(s, n * TRANSLATIONAL_TERMS);
    return t;
}

static void reserve(const mechanism *m, scratch *s) {
    take_arrays(m, s);
}

/* Computes z, p, r and I of all links in the base. */
static void place_links(const mechanism *m, vector_arrays t) {
    placement X = placement_identity();
    for (int i = 0; i < m->count; i++) {
        const mechanism_link *l = &m->links[i];
        X = i > 0 ? placement_compose(X, l->X) : l->X;
        t.z[i] = mat3_apply(X.R, mechanism_column(m, i, 0).w);
        t.p[i] = X.r;
        t.r[i] = vec3_add(X.r, mat3_apply(X.R, l->center));
        t.I[i] = sym3_rotate(X.R, l->central);
    }
}

/* Returns b_si, the velocity of the centre of mass of link s per unit velocity of joint i. */
static vec3 lever(vector_arrays t, int s, int i) {
    return vec3_cross(t.z[i], vec3_sub(t.r[s], t.p[i]));
}

static void compute_inertias(const mechanism *m, vector_arrays t) {
    int n = m->count;
    real_clear(t.D, n * n);
    for (int s = 0; s < n; s++) {
        for (int j = 0; j <= s; j++) {
            vec3 turned = sym3_apply(t.I[s], t.z[j]), moved = vec3_scale(m->links[s].mass, lever(t, s, j));
            for (int i = 0; i <= j; i++) {
                t.D[i * n + j] += vec3_dot(t.z[i], turned) + vec3_dot(lever(t, s, i), moved);
            }
        }
    }
    for (int j = 0; j < n; j++) {
        for (int i = 0; i < j; i++) {
            t.D[j * n + i] = t.D[i * n + j];
        }
    }
}

/* Computes w, dw and the four terms of the accelerations of the centres of mass at zero joint acceleration. */
static void compute_motion(const mechanism *m, vector_arrays t, const real *v) {
    vec3 w = vec3_zero(), dw = vec3_zero(), below[2] = {vec3_zero(), vec3_zero()};
    for (int s = 0; s < m->count; s++) {
        if (s > 0) {
            vec3 p = vec3_sub(t.p[s], t.p[s - 1]);
            below[0] = vec3_add(below[0], vec3_cross(w, vec3_cross(w, p)));
            below[1] = vec3_add(below[1], vec3_cross(dw, p));
        }
        vec3 rate = vec3_scale(v[s], t.z[s]), c = vec3_sub(t.r[s], t.p[s]);
        dw = vec3_add(dw, vec3_cross(w, rate));
        w = vec3_add(w, rate);
        t.w[s] = w, t.dw[s] = dw;
        vec3 *term = t.term + s * TRANSLATIONAL_TERMS;
        term[0] = below[0], term[1] = below[1];
        term[2] = vec3_cross(w, vec3_cross(w, c)), term[3] = vec3_cross(dw, c);
    }
}

/* Adds the terms of link s to h_tran, h_rot and c of joint i. */
static void add_forces(const mechanism *m, vector_arrays t, int s, int i) {
    vec3 b = vec3_scale(m->links[s].mass, lever(t, s, i));
    for (int k = 0; k < TRANSLATIONAL_TERMS; k++) {
        t.h_terms[i * TRANSLATIONAL_TERMS + k] += vec3_dot(b, t.term[s * TRANSLATIONAL_TERMS + k]);
    }
    t.h_rot[i] += vec3_dot(t.z[i], sym3_apply(t.I[s], t.dw[s])) +
                  vec3_dot(vec3_cross(t.z[i], t.w[s]), sym3_apply(t.I[s], t.w[s]));
    t.c[i] -= vec3_dot(m->gravity, b);
}

static void compute_coefficients(const mechanism *m, vector_arrays t, const real *v) {
    int n = m->count;
    real_clear(t.h_terms, n * TRANSLATIONAL_TERMS), real_clear(t.h_rot, n), real_clear(t.c, n);
    place_links(m, t);
    compute_inertias(m, t);
    compute_motion(m, t, v);
    for (int i = 0; i < n; i++) {
        const real *terms = t.h_terms + i * TRANSLATIONAL_TERMS;
        for (int s = i; s < n; s++) {
            add_forces(m, t, s, i);
        }
        t.h_tran[i] = terms[0] + terms[1] + terms[2] + terms[3];
    }
}

static void inverse(const mechanism *m, scratch *s, const real *v, const real *a, real *tau) {
    vector_arrays t = take_arrays(m, s);
    int n = m->count;
    compute_coefficients(m, t, v);
    for (int i = 0; i < n; i++) {
        tau[i] = t.h_tran[i] + t.h_rot[i] + t.c[i];
        for (int j = 0; j < n; j++) {
            tau[i] += t.D[i * n + j] * a[j];
        }
    }
}

static void mass_matrix(const mechanism *m, scratch *s, real *M) {
    vector_arrays t = take_arrays(m, s);
    place_links(m, t);
    compute_inertias(m, t);
    for (int i = 0; i < m->count * m->count; i++) {
        M[i] = t.D[i];
    }
}

static void coefficients(const mechanism *m, scratch *s, const real *v, const real *a, block_list *blocks) {
    vector_arrays t = take_arrays(m, s);
    int n = m->count;
    (void)a;
    compute_coefficients(m, t, v);
    KERNEL(add_block)(blocks, "D", block_of(n, n, 0, 0), t.D);
    KERNEL(add_block)(blocks, "h_tran", block_of(n, 0, 0, 0), t.h_tran);
    KERNEL(add_block)(blocks, "h_rot", block_of(n, 0, 0, 0), t.h_rot);
    KERNEL(add_block)
    (blocks, "h_tran_terms", block_of(n, TRANSLATIONAL_TERMS, 0, 0), t.h_terms);
    KERNEL(add_block)
    (blocks, "a_terms", block_of(n, TRANSLATIONAL_TERMS, 3, 0), t.term);
    KERNEL(add_block)(blocks, "c", block_of(n, 0, 0, 0), t.c);
    KERNEL(add_block)(blocks, "z", block_of(n, 3, 0, 0), t.z);
    KERNEL(add_block)(blocks, "p", block_of(n, 3, 0, 0), t.p);
    KERNEL(add_block)(blocks, "r", block_of(n, 3, 0, 0), t.r);
}

const formulation KERNEL(generalized_dalembert) = {
    {"generalized_dalembert", "Lee, Lee and Nigam 1983; Fu, Gonzalez and Lee 1987, chapter 3",
     DYN_FORMULATION_NEED_SERIAL_CHAIN | DYN_FORMULATION_NEED_ONE_COORDINATE | DYN_FORMULATION_NEED_REVOLUTE |
         DYN_FORMULATION_NEED_INDEPENDENT,
     200, true, false, true, false},
    reserve,
    inverse,
    NULL,
    mass_matrix,
    coefficients,
};
