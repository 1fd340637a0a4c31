/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Spatial vectors and their transforms (Featherstone 2008, chapter 2), angular part first.
 *
 * A placement (R, r) describes a child frame in its parent: R maps child coordinates to parent coordinates, r is the
 * child's origin in parent coordinates. It transforms
 *     motions to the child     w_c = R' w_p            v_c = R' (v_p + w_p x r)
 *     motions to the parent    w_p = R w_c             v_p = R v_c + r x w_p
 *     forces to the parent     f_p = R f_c             n_p = R n_c + r x f_p
 */
#ifndef DYNAMICS_SPATIAL_SPATIAL_H
#define DYNAMICS_SPATIAL_SPATIAL_H

#include "vec3.h"

/* Twist or spatial acceleration (w; v). */
typedef struct motion {
    vec3 w, v;
} motion;

/* Wrench or spatial momentum (n; f). */
typedef struct force {
    vec3 n, f;
} force;

typedef struct placement {
    mat3 R;
    vec3 r;
} placement;

static inline motion motion_set(vec3 w, vec3 v) {
    motion m;
    m.w = w;
    m.v = v;
    return m;
}

static inline motion motion_zero(void) {
    return motion_set(vec3_zero(), vec3_zero());
}

static inline motion motion_add(motion a, motion b) {
    return motion_set(vec3_add(a.w, b.w), vec3_add(a.v, b.v));
}

/* s a + b. */
static inline motion motion_fma(real s, motion a, motion b) {
    return motion_set(vec3_fma(s, a.w, b.w), vec3_fma(s, a.v, b.v));
}

/* Returns the spatial cross product a x b of two motions. */
static inline motion motion_cross(motion a, motion b) {
    return motion_set(vec3_cross(a.w, b.w), vec3_cross_add(a.w, b.v, vec3_cross(a.v, b.w)));
}

static inline force force_set(vec3 n, vec3 f) {
    force a;
    a.n = n;
    a.f = f;
    return a;
}

static inline force force_zero(void) {
    return force_set(vec3_zero(), vec3_zero());
}

static inline force force_add(force a, force b) {
    return force_set(vec3_add(a.n, b.n), vec3_add(a.f, b.f));
}

static inline force force_sub(force a, force b) {
    return force_set(vec3_sub(a.n, b.n), vec3_sub(a.f, b.f));
}

static inline force force_scale(real s, force a) {
    return force_set(vec3_scale(s, a.n), vec3_scale(s, a.f));
}

/* s a + b. */
static inline force force_fma(real s, force a, force b) {
    return force_set(vec3_fma(s, a.n, b.n), vec3_fma(s, a.f, b.f));
}

/* Returns the spatial cross product m x* a of a motion and a force. */
static inline force force_cross(motion m, force a) {
    return force_set(vec3_cross_add(m.w, a.n, vec3_cross(m.v, a.f)), vec3_cross(m.w, a.f));
}

/* Returns the scalar product of a motion and a force: power. */
static inline real spatial_dot(motion m, force a) {
    return vec3_dot_add(m.w, a.n, vec3_dot(m.v, a.f));
}

static inline motion motion_to_child(placement X, motion m) {
    return motion_set(mat3_apply_transposed(X.R, m.w), mat3_apply_transposed(X.R, vec3_cross_add(m.w, X.r, m.v)));
}

static inline motion motion_to_parent(placement X, motion m) {
    vec3 w = mat3_apply(X.R, m.w);
    return motion_set(w, vec3_add(mat3_apply(X.R, m.v), vec3_cross(X.r, w)));
}

static inline force force_to_parent(placement X, force a) {
    vec3 f = mat3_apply(X.R, a.f);
    return force_set(vec3_cross_add(X.r, f, mat3_apply(X.R, a.n)), f);
}

/* Returns the constant placement of position r[0..2] and rotation R[0..8]. */
static inline placement placement_constant(const double *R, const double *r) {
    placement X;
    X.R = mat3_constant(R);
    X.r = vec3_constant(r);
    return X;
}

/* Returns the placement of position r[0..2] and rotation R[0..8]. */
static inline placement placement_load(const real *R, const real *r) {
    placement X;
    X.R = mat3_from_columns(vec3_set(R[0], R[3], R[6]), vec3_set(R[1], R[4], R[7]), vec3_set(R[2], R[5], R[8]));
    X.r = vec3_set(r[0], r[1], r[2]);
    return X;
}

static inline placement placement_identity(void) {
    real zero = real_set(0), one = real_set(1);
    placement X;
    X.R = mat3_from_columns(vec3_set(one, zero, zero), vec3_set(zero, one, zero), vec3_set(zero, zero, one));
    X.r = vec3_zero();
    return X;
}

/* Returns the placement of c in a, from that of b in a and that of c in b. */
static inline placement placement_compose(placement ab, placement bc) {
    placement ac;
    ac.R = mat3_multiply(ab.R, bc.R);
    ac.r = vec3_add(ab.r, mat3_apply(ab.R, bc.r));
    return ac;
}

#endif
