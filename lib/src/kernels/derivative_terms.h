/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Defines the terms of the derivatives of inverse dynamics: those of the bodies, the subtrees and the columns of a
 * tree, in the frame of columns.h. rnea_derivatives.c contains the equations.
 *
 * Only placements, velocities, accelerations and sums depend on other bodies. So in an instance of one sample the lanes
 * of a vector hold columns (term_lanes.h), and derivative_columns.c computes their other terms at once. Elements of the
 * arrays of terms then hold TERM_LANES terms, and the terms of a body have the index of the last column of its joint.
 * In other instances the lanes hold samples, elements hold one term, and each term is computed as soon as its operands
 * are in registers.
 *
 * With x, y, z the axes of a body placed at (R, r), and halves of its second moments J about its origin,
 *     J_r = A + A'       A = x p' + y s' + z t' + r u'
 *     p = J_xx x / 2 + J_xy y + J_xz z     s = J_yy y / 2 + J_yz z     t = J_zz z / 2     u = R h + m r / 2
 * and I = tr(J) 1 - J. The inertial wrench of the body is (n; f) = I a + B w.
 *
 * Inertial parameters are the grouped ones (model/group_inertias.h). A serial body has m = h_z = J_zz = 0. Rotors have
 * terms of the joint that they drive (driven_joint.h), whose one column they share.
 */
#ifndef DYNAMICS_KERNELS_DERIVATIVE_TERMS_H
#define DYNAMICS_KERNELS_DERIVATIVE_TERMS_H

#include "columns.h"
#include "driven_joint.h"
#include "term_lanes.h"

static inline inertial_terms no_terms(void) {
    inertial_terms x;
    mat3 zero = mat3_from_columns(vec3_zero(), vec3_zero(), vec3_zero());
    x.I.m = real_set(0), x.I.h = vec3_zero(), x.I.I = sym3_zero();
    x.B.B = zero, x.B.p = vec3_zero();
    x.f = force_zero();
    return x;
}

/* Terms of a body. */
typedef struct body_terms {
    placement_lanes W;
    motion_lanes v, a;
    inertial_lanes own;
} body_terms;

/* Terms of a joint, for each of its columns: the motion of its parent, and the sums over its subtree. Used only if
 * lanes hold columns. */
typedef struct joint_terms {
    motion_lanes v, a;
    inertial_lanes sum;
} joint_terms;

/* Products of a column: I S and the angular part of 2 B' S, whose linear part is zero, for entries below the diagonal;
 * and the forces dv and dq on the joints nearer to the root, for entries above the diagonal. */
typedef struct column_products {
    force_lanes IS;
    vec3_lanes BS;
    force_lanes dv, dq;
} column_products;

/* Terms of a column. */
typedef struct column_terms {
    motion_lanes S, Psi_dot, Psi_ddot;
    motion_lanes rate; /* Psi_dot + S_dot */
    column_products products;
} column_terms;

/* Terms of the rotors of a joint, which are zero if it has none. The others are used only if lanes hold columns, since
 * they are recomputed in other instances. */
typedef struct rotor_terms {
    vec3_lanes g;       /* in the axes of the frame; zero if the parent is the world */
    vec3_lanes turning; /* w x g, with the angular velocity w of the parent */
    real_lanes d, v, a; /* d, and the joint's rate and acceleration */
    rotor_lanes moments;
    vec3_lanes IS, BS;     /* I S and 2 B' S, angular parts, without g */
    real_lanes dq, dv, da; /* entries on the diagonal */
} rotor_terms;

/* Axes of a body and its origin r, three numbers and a zero each. */
typedef struct placement_columns {
    real x[4], y[4], z[4], r[4];
} placement_columns;

/* Motion of a body that is connected to the world, and a_0 = -g in its axes. */
typedef struct root_motion {
    motion v;
    vec3 a_0;
} root_motion;

/* Tree in motion: the arrays of terms, and the numbers of the columns. */
typedef struct derivative_tree {
    const dyn_model *model;
    int count;       /* number of bodies: rotors are computed with the joints that they drive */
    bool shares;     /* joints share coordinates */
    bool has_driven; /* rotors drive joints, and have terms */
    void *bodies, *joints, *columns;
    void *rotors;            /* rotor_terms of each column; NULL without driven joints */
    void *placed;            /* placement_columns of the body of each column, not in lanes */
    const int *first_column; /* of each body; after the last one, the number of columns */
    const int *coordinates;  /* of each column; like column_above, only if lanes hold samples or joints share one */
    const int *column_above; /* column before it at its joint, else the last one of the parent joint; -1: none */
    bool branches;           /* some columns belong to different branches */
    const int *column_ends;  /* end of the columns of its subtree, of each column; exists if there are branches */
    void *roots;             /* root_motion of bodies that are connected to the world, not in lanes */
} derivative_tree;

/* Returns the lane of term number i in its element. */
static inline int term_lane(int i) {
    return (int)((unsigned)i % TERM_LANES);
}

/* Returns the element of body terms that contains term number i. */
static inline body_terms *bodies_at(const derivative_tree *t, int i) {
    return (body_terms *)t->bodies + (unsigned)i / TERM_LANES;
}

static inline joint_terms *joints_at(const derivative_tree *t, int i) {
    return (joint_terms *)t->joints + (unsigned)i / TERM_LANES;
}

static inline column_terms *columns_at(const derivative_tree *t, int i) {
    return (column_terms *)t->columns + (unsigned)i / TERM_LANES;
}

static inline rotor_terms *rotors_at(const derivative_tree *t, int i) {
    return (rotor_terms *)t->rotors + (unsigned)i / TERM_LANES;
}

/* Returns whether a child other than the next body is connected to body i, among the bodies to compute. */
static inline bool forks_at(const derivative_tree *t, int i) {
    return t->has_driven ? t->model->bodies[i].forks_links : t->model->bodies[i].forks;
}

/* Returns whether rotors drive the joint of body i, and are computed with it. */
static inline bool drives_rotors(const derivative_tree *t, int i) {
    return t->has_driven && t->model->bodies[i].is_driven;
}

/* Returns the number of the terms of body i. */
static inline int body_term(const derivative_tree *t, int i) {
    return TERM_LANES > 1 ? t->first_column[i + 1] - 1 : i;
}

/* Requested parts: d tau / dv and M, which do not depend on the acceleration; d tau / dq; or all. */
typedef enum derivative_parts { VELOCITY_PART = 1, POSITION_PART = 2, BOTH_PARTS = 3 } derivative_parts;

/* ---- lanes that hold columns ------------------------------------------------------------------------------------- */

/* Computes placements in the lanes, and the columns of hinges. */
void KERNEL(find_columns)(const derivative_tree *t);
/* Computes the rates of the columns, 2 Psi_dot, and the bodies' inertias, from their motion. */
void KERNEL(find_rates)(const derivative_tree *t);
/* Computes the terms of rotors that do not depend on accelerations. */
void KERNEL(find_rotor_rates)(const derivative_tree *t);
/* Computes the moments of rotors. */
void KERNEL(find_rotor_moments)(const derivative_tree *t);
/* Computes the inertial wrench of each body. */
void KERNEL(find_forces)(const derivative_tree *t);
/* Computes Psi_ddot and the products of the columns, from the forces and the sums over subtrees. */
void KERNEL(find_column_products)(const derivative_tree *t, derivative_parts parts);
/* Stores the entries of all matrices. Returns true if all of them are stored as unpack does and finite. */
int KERNEL(store_derivatives)(const derivative_tree *t, derivative_parts parts, const derivative_matrices *d);
/* Stores the entries by rows, for models in which no joints share a coordinate. Returns as store_derivatives does. */
int KERNEL(store_rows)(const derivative_tree *t, derivative_parts parts, const derivative_matrices *d);

/* ---- terms of a body --------------------------------------------------------------------------------------------- */

/* Mass, first and second moments of a body in its own axes. */
typedef struct mass_moments {
    real m;
    vec3 h;
    sym3 J;
} mass_moments;

/* Returns the moments of a body with the placement W, about the origin and in the axes of the outer frame. */
KERNEL_STEP mass_moments place_moments(placement W, mass_moments b) {
    vec3 x = mat3_column_x(W.R), y = mat3_column_y(W.R), z = mat3_column_z(W.R), r = W.r;
    real half = real_set(0.5);
    vec3 h = vec3_fma(b.h.x, x, vec3_fma(b.h.y, y, vec3_scale(b.h.z, z))), u = vec3_fma(half * b.m, r, h);
    vec3 p = vec3_fma(half * b.J.xx, x, vec3_fma(b.J.xy, y, vec3_scale(b.J.xz, z)));
    vec3 s = vec3_fma(half * b.J.yy, y, vec3_scale(b.J.yz, z)), t = vec3_scale(half * b.J.zz, z);
    mass_moments k;
    k.m = b.m;
    k.h = vec3_fma(b.m, r, h);
    k.J.xx = real_fma(x.x, p.x, real_fma(y.x, s.x, real_fma(z.x, t.x, r.x * u.x)));
    k.J.yy = real_fma(x.y, p.y, real_fma(y.y, s.y, real_fma(z.y, t.y, r.y * u.y)));
    k.J.zz = real_fma(x.z, p.z, real_fma(y.z, s.z, real_fma(z.z, t.z, r.z * u.z)));
    k.J.xx = k.J.xx + k.J.xx, k.J.yy = k.J.yy + k.J.yy, k.J.zz = k.J.zz + k.J.zz;
    k.J.xy = real_fma(x.x, p.y, real_fma(x.y, p.x, real_fma(y.x, s.y, real_fma(y.y, s.x, r.x * u.y))));
    k.J.xy = real_fma(z.x, t.y, real_fma(z.y, t.x, real_fma(r.y, u.x, k.J.xy)));
    k.J.xz = real_fma(x.x, p.z, real_fma(x.z, p.x, real_fma(y.x, s.z, real_fma(y.z, s.x, r.x * u.z))));
    k.J.xz = real_fma(z.x, t.z, real_fma(z.z, t.x, real_fma(r.z, u.x, k.J.xz)));
    k.J.yz = real_fma(x.y, p.z, real_fma(x.z, p.y, real_fma(y.y, s.z, real_fma(y.z, s.y, r.y * u.z))));
    k.J.yz = real_fma(z.y, t.z, real_fma(z.z, t.y, real_fma(r.z, u.y, k.J.yz)));
    return k;
}

/* Returns the inertia with I = tr(J) 1 - J. */
static inline rigid_inertia inertia_of(mass_moments x) {
    sym3 J = x.J;
    rigid_inertia B;
    B.m = x.m, B.h = x.h;
    B.I = sym3_set(J.yy + J.zz, -J.xy, -J.xz, J.xx + J.zz, -J.yz, J.xx + J.yy);
    return B;
}

/* Computes the inertial terms that do not depend on the acceleration. */
KERNEL_STEP void find_own_inertia(mass_moments x, motion v, inertial_terms *own) {
    own->I = inertia_of(x);
    own->B = coriolis_map_of_body(x.m, x.h, x.J, motion_add(v, v));
}

/* Computes the inertial wrench from the other terms. */
static inline void find_own_force(motion v, motion a, inertial_terms *own) {
    own->f = coriolis_apply_add(own->B, vec3_scale(real_set(0.5), v.w), rigid_inertia_apply(own->I, a));
}

/* Returns the grouped parameters of a body, with rotors at rest if they are computed with joints. `serial` is a
 * constant that equals b->serial. */
KERNEL_STEP mass_moments moments_of(const derivative_tree *t, const body *b, bool serial) {
    const grouping_constants *g = computed_grouping(b, t->has_driven);
    mass_moments x;
    real zero = real_set(0);
    x.m = serial ? zero : rounded_set(g->mass);
    x.h = vec3_rounded(g->first_moment);
    x.J = sym3_rounded(g->moments);
    if (serial) {
        x.h.z = x.J.zz = zero;
    }
    return x;
}

/* ---- terms of rotors --------------------------------------------------------------------------------------------- */

/* Computes what rotors with the momentum L relative to their carrier add to 2 B of it: 2 B w = (w x L; 0). */
static inline coriolis_map coriolis_map_of_rotors(vec3 L) {
    real zero = real_set(0);
    coriolis_map c;
    c.B = mat3_from_columns(vec3_set(zero, -L.z, L.y), vec3_set(L.z, zero, -L.x), vec3_set(-L.y, L.x, zero));
    c.p = vec3_zero();
    return c;
}

/* Computes the moment of rotors on their carrier: n = g a + w x g v. */
static inline vec3 moment_of_rotors(vec3 g, vec3 turning, real v, real a) {
    return vec3_fma(a, g, vec3_scale(v, turning));
}

/* ---- terms of a column ------------------------------------------------------------------------------------------- */

/* Returns Psi_ddot of a column whose joint's parent moves with v and a. */
static inline motion column_acceleration(motion v, motion a, motion S, motion Psi_dot) {
    return motion_add(motion_cross(a, S), motion_cross(v, Psi_dot));
}

#endif
