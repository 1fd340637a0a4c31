/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Natural coordinates of Garcia de Jalon: no angles. A link is described by points and unit vectors that are fixed to
 * it, here its origin r and its axes x, y, z, all in the world: q has 12 numbers for each link.
 *
 *     The velocity of every point of a link is linear in dq with constant coefficients, so the mass matrix of a link is
 *     constant and there are no Coriolis forces: M_i = J_i (x) 1, with the pseudo-inertia J_i, 4 x 4, and the 3 x 3
 *     identity.
 *     Constraints Phi(q) = 0 are at most quadratic: unit vectors of a link are normal (6 for each link), and its joint
 *     ties them to those of its parent (6 - nv), by coincident points and scalar products.
 *     The columns of R(q) span the motions that the constraints allow, Phi_q R = 0, and belong to the joints:
 *         dq = R z'        ddq = R z'' + dR/dt z'
 *         R' M R z'' = tau + R' (Q - M dR/dt z')
 *     where z' are the velocities of the joints, and Q are the weights.
 *
 * Helical and custom joints do not apply: their advance along the axis, and their functions of a coordinate, are no
 * algebraic functions of points and vectors.
 *
 * Source: Garcia de Jalon and Bayo 1994, chapters 2 to 5; Garcia de Jalon 2007; named by Shao and Yuan 2012,
 * which prints no equations: these follow from the books as far as they are known.
 */
#include "formulation.h"
#include "linear.h"
#include "mat4.h"
#include "world_links.h"

enum { SLOTS = 4, ORIGIN = 3 }; /* of a link: x, y, z, r */

/* Quantities of N links, as above. */
typedef struct arrays {
    matrix S;           /* Jacobians of all links */
    vec3 *q, *dq, *Rdz; /* SLOTS vectors for each link: coordinates, velocities, dR/dt z' */
    matrix R, MR;       /* 12 N x nv */
    mat4 *J;
    vec3 *Q, *force;      /* weights; M ddq - Q */
    real *reduced, *bias; /* R' M R, and forces of the joints at z'' = 0 */
    motion *a;            /* accelerations of the links at z'' = 0, without gravity */
    matrix Phi_q;         /* constraints x 12 N */
    real *Phi;
    int constraints;
    const world_link *links;
} arrays;

static arrays take(const mechanism *m, const real *v, scratch *s) {
    arrays x;
    size_t vectors = SLOTS * (size_t)m->count;
    int rows = 12 * m->count;
    x.S = matrix_take(s, 6 * m->count, m->nv);
    x.q = (vec3 *)scratch_take(s, vectors, sizeof(vec3));
    x.dq = (vec3 *)scratch_take(s, vectors, sizeof(vec3));
    x.Rdz = (vec3 *)scratch_take(s, vectors, sizeof(vec3));
    x.R = matrix_take(s, rows, m->nv), x.MR = matrix_take(s, rows, m->nv);
    x.J = (mat4 *)scratch_take(s, (size_t)m->count, sizeof(mat4));
    x.Q = (vec3 *)scratch_take(s, vectors, sizeof(vec3));
    x.force = (vec3 *)scratch_take(s, vectors, sizeof(vec3));
    x.reduced = scratch_reals(s, (size_t)m->nv * (size_t)m->nv);
    x.bias = scratch_reals(s, (size_t)m->nv);
    x.a = (motion *)scratch_take(s, (size_t)m->count, sizeof(motion));
    x.Phi_q = matrix_take(s, rows, rows);
    x.Phi = scratch_reals(s, (size_t)rows);
    x.constraints = 0;
    x.links = KERNEL(world_links)(m, v, s);
    return x;
}

static void reserve(const mechanism *m, scratch *s) {
    take(m, NULL, s);
}

/* ---- Motion ------------------------------------------------------------------------------------------------------ */

/* Returns the rate of the vector q that `slot` of a link names, for the link's motion m: w x q for an axis, w x q + v
 * for the origin. */
static vec3 slot_rate(motion m, int slot, vec3 q) {
    return slot == ORIGIN ? vec3_cross_add(m.w, q, m.v) : vec3_cross(m.w, q);
}

/* Computes q, dq, R and dR/dt z' of link i. `bias` is its acceleration at z'' = 0. */
static void describe(const mechanism *m, const arrays *x, int i, motion bias) {
    const world_link *l = &x->links[i];
    const vec3 slots[SLOTS] = {mat3_column_x(l->X.R), mat3_column_y(l->X.R), mat3_column_z(l->X.R), l->X.r};
    for (int k = 0; k < SLOTS; k++) {
        int at = SLOTS * i + k;
        x->q[at] = slots[k];
        x->dq[at] = slot_rate(l->v, k, slots[k]);
        x->Rdz[at] = vec3_add(slot_rate(bias, k, slots[k]), vec3_cross(l->v.w, x->dq[at]));
        for (int c = 0; c < m->nv; c++) {
            vec3 rate = slot_rate(KERNEL(matrix_motion)(matrix_block(x->S, 6 * i, c, 6, 1)), k, slots[k]);
            *matrix_at(x->R, 3 * at, c) = rate.x;
            *matrix_at(x->R, 3 * at + 1, c) = rate.y;
            *matrix_at(x->R, 3 * at + 2, c) = rate.z;
        }
    }
}

/* Computes M R and the weights of link i. */
static void weigh(const mechanism *m, const arrays *x, int i) {
    x->J[i] = mat4_of_inertia(m->links[i].b);
    for (int k = 0; k < SLOTS; k++) {
        x->Q[SLOTS * i + k] = vec3_scale(x->J[i].e[SLOTS * k + ORIGIN], m->gravity);
        matrix rows = matrix_block(x->MR, 12 * i + 3 * k, 0, 3, m->nv);
        KERNEL(matrix_clear)(rows);
        for (int l = 0; l < SLOTS; l++) {
            for (int r = 0; r < 3; r++) {
                for (int c = 0; c < m->nv; c++) {
                    real *entry = matrix_at(rows, r, c);
                    *entry = *entry + x->J[i].e[SLOTS * k + l] * *matrix_at(x->R, 12 * i + 3 * l + r, c);
                }
            }
        }
    }
}

/* Computes the coordinates and the inertia of all links. */
static void describe_all(const mechanism *m, const arrays *x) {
    KERNEL(world_jacobians)(m, x->links, x->S);
    for (int i = 0; i < m->count; i++) {
        int parent = x->links[i].parent;
        x->a[i] = parent < 0 ? x->links[i].c : motion_add(x->a[parent], x->links[i].c);
        describe(m, x, i, x->a[i]);
        weigh(m, x, i);
    }
}

/* Computes the forces M (R z'' + dR/dt z') - Q for the accelerations a of the joints, and adds R' times these forces to
 * tau. */
static void project_forces(const mechanism *m, const arrays *x, const real *a, real *tau) {
    for (int i = 0; i < m->count; i++) {
        for (int k = 0; k < SLOTS; k++) {
            vec3 sum = vec3_scale(real_set(-1), x->Q[SLOTS * i + k]);
            for (int l = 0; l < SLOTS; l++) {
                sum = vec3_fma(x->J[i].e[SLOTS * k + l], x->Rdz[SLOTS * i + l], sum);
            }
            x->force[SLOTS * i + k] = sum;
        }
    }
    KERNEL(multiply_add)(12 * m->count, m->nv, x->MR.x, a, (real *)x->force);
    matrix forces = matrix_of((real *)x->force, 12 * m->count, 1);
    KERNEL(matrix_add_product)(matrix_transposed(x->R), forces, matrix_of(tau, m->nv, 1));
}

static void project_mass(const mechanism *m, const arrays *x, real *M) {
    KERNEL(matrix_product)(matrix_transposed(x->R), x->MR, matrix_of(M, m->nv, m->nv));
}

static void inverse(const mechanism *m, scratch *s, const real *v, const real *a, real *tau) {
    arrays x = take(m, v, s);
    describe_all(m, &x);
    project_forces(m, &x, a, tau);
}

static void forward(const mechanism *m, scratch *s, const real *v, const real *tau, real *a) {
    arrays x = take(m, v, s);
    describe_all(m, &x);
    real_clear(a, m->nv), real_clear(x.bias, m->nv);
    project_forces(m, &x, a, x.bias);
    project_mass(m, &x, x.reduced);
    for (int k = 0; k < m->nv; k++) {
        a[k] = tau[k] - x.bias[k];
    }
    KERNEL(factorize_symmetric)(m->nv, x.reduced);
    KERNEL(solve_symmetric)(m->nv, x.reduced, a);
}

static void mass_matrix(const mechanism *m, scratch *s, real *M) {
    arrays x = take(m, NULL, s);
    describe_all(m, &x);
    project_mass(m, &x, M);
}

/* ---- Constraints ------------------------------------------------------------------------------------------------- */

/* Vector that is linear in the coordinates of link i and of its parent. A base has constant coordinates. */
typedef struct linear_vector {
    real own[SLOTS], parent[SLOTS];
    vec3 value;
} linear_vector;

static linear_vector zero_vector(void) {
    linear_vector A;
    real_clear(A.own, SLOTS), real_clear(A.parent, SLOTS);
    A.value = vec3_zero();
    return A;
}

/* Returns vector `slot` of link i. */
static linear_vector own_vector(const arrays *x, int i, int slot) {
    linear_vector A = zero_vector();
    A.own[slot] = real_set(1);
    A.value = x->q[SLOTS * i + slot];
    return A;
}

/* Returns axis `slot` of the frame of joint i on its parent, or the frame's origin. */
static linear_vector joint_vector(const mechanism *m, const arrays *x, int i, int slot) {
    const body *b = m->links[i].b;
    linear_vector A = zero_vector();
    for (int k = 0; k < SLOTS; k++) {
        vec3 axis = vec3_set(real_set(k == 0), real_set(k == 1), real_set(k == 2));
        real share = real_set(slot == ORIGIN ? (k == ORIGIN ? 1 : b->position[k]) : 0);
        if (slot != ORIGIN && k != ORIGIN) {
            share = real_set(b->rotation[3 * k + slot]);
        }
        A.parent[k] = share;
        A.value = vec3_fma(share, b->parent < 0 ? axis : x->q[SLOTS * b->parent + k], A.value);
    }
    return A;
}

static linear_vector subtract(linear_vector A, linear_vector B) {
    for (int k = 0; k < SLOTS; k++) {
        A.own[k] = A.own[k] - B.own[k], A.parent[k] = A.parent[k] - B.parent[k];
    }
    A.value = vec3_sub(A.value, B.value);
    return A;
}

/* Adds, to the last row of Phi_q, the derivative of A . B with respect to the coordinates on which the vector A
 * depends. */
static void add_gradient(const mechanism *m, const arrays *x, int i, linear_vector A, vec3 B) {
    const real factors[3] = {B.x, B.y, B.z};
    int parent = m->links[i].parent;
    for (int k = 0; k < SLOTS; k++) {
        for (int r = 0; r < 3; r++) {
            real *own = matrix_at(x->Phi_q, x->constraints - 1, 12 * i + 3 * k + r);
            *own = *own + A.own[k] * factors[r];
            if (parent >= 0) {
                real *before = matrix_at(x->Phi_q, x->constraints - 1, 12 * parent + 3 * k + r);
                *before = *before + A.parent[k] * factors[r];
            }
        }
    }
}

/* Adds the constraint A . B = c of link i to Phi and Phi_q. */
static void constrain_product(const mechanism *m, arrays *x, int i, linear_vector A, linear_vector B, double c) {
    x->Phi[x->constraints++] = vec3_dot(A.value, B.value) - real_set(c);
    add_gradient(m, x, i, A, B.value);
    add_gradient(m, x, i, B, A.value);
}

/* Adds the three constraints A = 0 of link i to Phi and Phi_q. */
static void constrain_vector(const mechanism *m, arrays *x, int i, linear_vector A) {
    const real values[3] = {A.value.x, A.value.y, A.value.z};
    for (int k = 0; k < 3; k++) {
        x->Phi[x->constraints++] = values[k];
        add_gradient(m, x, i, A, vec3_set(real_set(k == 0), real_set(k == 1), real_set(k == 2)));
    }
}

/* Adds the constraints of link i alone: its axes have length one and are normal to each other. */
static void constrain_body(const mechanism *m, arrays *x, int i) {
    for (int k = 0; k < 3; k++) {
        for (int l = k; l < 3; l++) {
            constrain_product(m, x, i, own_vector(x, i, k), own_vector(x, i, l), k == l);
        }
    }
}

/* Constraints of a joint: scalar products that are zero, of axes of the link, or of the vector from the joint frame's
 * origin to the link's (ORIGIN), with axes of the joint's frame on the parent. */
typedef struct joint_constraints {
    int coincident; /* the origins are the same point */
    int count, own[5], parent[5];
} joint_constraints;

static joint_constraints constraints_of(motion_type motion_of_joint) {
    static const joint_constraints table[] = {
        /* revolute */ {1, 2, {2, 2}, {0, 1}},
        /* prismatic */ {0, 5, {ORIGIN, ORIGIN, 0, 2, 2}, {0, 1, 1, 0, 1}},
        /* helical: refused */ {0, 0, {0}, {0}},
        /* cylindrical */ {0, 4, {ORIGIN, ORIGIN, 2, 2}, {0, 1, 0, 1}},
        /* planar */ {0, 3, {ORIGIN, 2, 2}, {2, 0, 1}},
        /* spherical */ {1, 0, {0}, {0}},
        /* floating */ {0, 0, {0}, {0}},
    };
    return table[motion_of_joint];
}

static void constrain_joint(const mechanism *m, arrays *x, int i) {
    joint_constraints c = constraints_of(m->links[i].b->motion);
    linear_vector way = subtract(own_vector(x, i, ORIGIN), joint_vector(m, x, i, ORIGIN));
    if (c.coincident) {
        constrain_vector(m, x, i, way);
    }
    for (int k = 0; k < c.count; k++) {
        linear_vector own = c.own[k] == ORIGIN ? way : own_vector(x, i, c.own[k]);
        constrain_product(m, x, i, own, joint_vector(m, x, i, c.parent[k]), 0);
    }
}

static void coefficients(const mechanism *m, scratch *s, const real *v, const real *a, block_list *blocks) {
    arrays x = take(m, v, s);
    int n = m->count, nv = m->nv;
    describe_all(m, &x);
    real_clear(x.bias, nv);
    project_forces(m, &x, a, x.bias);
    project_mass(m, &x, x.reduced);
    KERNEL(matrix_clear)(x.Phi_q);
    for (int i = 0; i < n; i++) {
        constrain_body(m, &x, i);
        constrain_joint(m, &x, i);
    }
    KERNEL(add_block)(blocks, "q", block_of(n, SLOTS, 3, 0), x.q);
    KERNEL(add_block)(blocks, "dq", block_of(n, SLOTS, 3, 0), x.dq);
    KERNEL(add_block)
    (blocks, "J", block_of(n, SLOTS, SLOTS, 0), x.J);
    KERNEL(add_block)(blocks, "Q", block_of(n, SLOTS, 3, 0), x.Q);
    KERNEL(add_block)(blocks, "R", block_of(12 * n, nv, 0, 0), x.R.x);
    KERNEL(add_block)(blocks, "dR_v", block_of(n, SLOTS, 3, 0), x.Rdz);
    KERNEL(add_block)(blocks, "M", block_of(nv, nv, 0, 0), x.reduced);
    KERNEL(add_block)
    (blocks, "Phi", block_of(x.constraints, 0, 0, 0), x.Phi);
    KERNEL(add_block)(blocks, "Phi_q", block_of(x.constraints, 12 * n, 0, 0), x.Phi_q.x);
}

const formulation KERNEL(natural_coordinates) = {
    {"natural_coordinates", "Garcia de Jalon and Bayo 1994",
     DYN_FORMULATION_NEED_NO_HELICAL | DYN_FORMULATION_NEED_NO_CUSTOM, 150, true, true, true, false},
    reserve,
    inverse,
    forward,
    mass_matrix,
    coefficients,
};
