/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Transforms vectors, inertias and matrices at hinges: R = Rx(tilt) Rz(angle) is the orientation of a revolute joint's
 * body in its parent (model/normal_form.h). Two plane rotations transform a vector with 8 multiplications. A product
 * with R takes 9, after R has been computed.
 */
#ifndef DYNAMICS_KERNELS_HINGE_H
#define DYNAMICS_KERNELS_HINGE_H

#include "instance.h"

typedef struct hinge {
    real s, c;           /* sine and cosine of the angle */
    real tilt_s, tilt_c; /* sine and cosine of the tilt */
    vec3 r;              /* the body's origin in its parent */
} hinge;

static inline hinge hinge_at(const body *b, joint_turns turns, int i) {
    const body_constants *c = constants_of(b);
    hinge h;
    h.s = turns.sine[i], h.c = turns.cosine[i];
    h.tilt_c = rounded_set(c->tilt[0]), h.tilt_s = rounded_set(c->tilt[1]);
    h.r = vec3_rounded(c->position);
    return h;
}

/* Returns R' v. */
static inline vec3 hinge_to_child(hinge h, vec3 v) {
    real y = real_fma(h.tilt_c, v.y, h.tilt_s * v.z);
    real z = real_fma(h.tilt_c, v.z, -(h.tilt_s * v.y));
    return vec3_set(real_fma(h.s, y, h.c * v.x), real_fma(h.c, y, -(h.s * v.x)), z);
}

/* Returns R v. */
static inline vec3 hinge_to_parent(hinge h, vec3 v) {
    real x = real_fma(h.c, v.x, -(h.s * v.y)), y = real_fma(h.s, v.x, h.c * v.y);
    return vec3_set(x, real_fma(h.tilt_c, y, -(h.tilt_s * v.z)), real_fma(h.tilt_s, y, h.tilt_c * v.z));
}

/* Returns R v + u. */
static inline vec3 hinge_to_parent_add(hinge h, vec3 v, vec3 u) {
    real y = real_fma(h.s, v.x, h.c * v.y);
    return vec3_set(real_fma(h.c, v.x, real_fma(-h.s, v.y, u.x)), real_fma(h.tilt_c, y, real_fma(-h.tilt_s, v.z, u.y)),
                    real_fma(h.tilt_s, y, real_fma(h.tilt_c, v.z, u.z)));
}

/* Computes R A R' of a symmetric matrix for a turn about z. */
static inline sym3 sym3_turn_about_z(real s, real c, sym3 A) {
    real yx = A.xy;
    turn_block(c, s, &A.xx, &A.xy, &yx, &A.yy);
    turn_pair(c, s, &A.xz, &A.yz);
    return A;
}

/* Computes R A R' of a symmetric matrix for a turn about x. */
static inline sym3 sym3_turn_about_x(real s, real c, sym3 A) {
    real zy = A.yz;
    turn_block(c, s, &A.yy, &A.yz, &zy, &A.zz);
    turn_pair(c, s, &A.xy, &A.xz);
    return A;
}

static inline sym3 hinge_turn_symmetric(hinge h, sym3 A) {
    return sym3_turn_about_x(h.tilt_s, h.tilt_c, sym3_turn_about_z(h.s, h.c, A));
}

/* Computes R B R' of any matrix. */
static inline mat3 hinge_turn_matrix(hinge h, mat3 B) {
    return mat3_turn_about_x(h.tilt_c, h.tilt_s, mat3_turn_about_z(h.c, h.s, B));
}

/* Computes R' A R of a symmetric matrix. */
static inline sym3 hinge_turn_back_symmetric(hinge h, sym3 A) {
    return sym3_turn_about_z(-h.s, h.c, sym3_turn_about_x(-h.tilt_s, h.tilt_c, A));
}

/* Computes R' B R of any matrix. */
static inline mat3 hinge_turn_back_matrix(hinge h, mat3 B) {
    return mat3_turn_about_z(h.c, -h.s, mat3_turn_about_x(h.tilt_c, -h.tilt_s, B));
}

static inline motion hinge_motion_to_child(hinge h, motion m) {
    return motion_set(hinge_to_child(h, m.w), hinge_to_child(h, vec3_cross_add(m.w, h.r, m.v)));
}

static inline motion hinge_motion_to_parent(hinge h, motion m) {
    vec3 w = hinge_to_parent(h, m.w);
    return motion_set(w, hinge_to_parent_add(h, m.v, vec3_cross(h.r, w)));
}

/* Returns the wrench f of the parent, transformed to its child. */
static inline force hinge_force_to_child(hinge h, force f) {
    return force_set(hinge_to_child(h, vec3_cross_add(f.f, h.r, f.n)), hinge_to_child(h, f.f));
}

/* Returns the wrench f of the child, transformed to its parent, plus another one. The moment is rotated last because
 * the next body depends on it. */
static inline force hinge_force_to_parent(hinge h, force f, force other) {
    vec3 turned = hinge_to_parent(h, f.f), moment = vec3_cross_add(h.r, turned, other.n);
    return force_set(hinge_to_parent_add(h, f.n, moment), vec3_add(turned, other.f));
}

static inline rigid_inertia hinge_inertia_to_parent(hinge h, rigid_inertia B) {
    B.h = hinge_to_parent(h, B.h);
    B.I = hinge_turn_symmetric(h, B.I);
    return rigid_inertia_shift(h.r, B);
}

/* Returns the placement (R, r) of the hinge. */
static inline placement hinge_placement(hinge h) {
    real zero = real_set(0);
    placement X;
    X.R = mat3_from_columns(vec3_set(h.c, h.tilt_c * h.s, h.tilt_s * h.s),
                            vec3_set(-h.s, h.tilt_c * h.c, h.tilt_s * h.c), vec3_set(zero, -h.tilt_s, h.tilt_c));
    X.r = h.r;
    return X;
}

#endif
