/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rigid-body and articulated-body inertias, about the origin of the frame they are expressed in.
 */
#ifndef DYNAMICS_SPATIAL_INERTIA_H
#define DYNAMICS_SPATIAL_INERTIA_H

#include "spatial.h"

/* Inertia of a rigid body: mass m, first moment h = m c, rotational inertia I about the origin.
 *     n = I w + h x v        f = m v + w x h */
typedef struct rigid_inertia {
    real m;
    vec3 h;
    sym3 I;
} rigid_inertia;

static inline force rigid_inertia_apply(rigid_inertia B, motion a) {
    return force_set(vec3_cross_add(B.h, a.v, sym3_apply(B.I, a.w)), vec3_fma(B.m, a.v, vec3_cross(a.w, B.h)));
}

static inline rigid_inertia rigid_inertia_add(rigid_inertia A, rigid_inertia B) {
    rigid_inertia C;
    C.m = A.m + B.m;
    C.h = vec3_add(A.h, B.h);
    C.I = sym3_add(A.I, B.I);
    return C;
}

/* Shifts an inertia to a point at -r, so that its old origin is at r. With u = h + m r / 2:
 *     h_r = h + m r          I_r = I + 2 (u . r) 1 - u r' - r u' */
static inline rigid_inertia rigid_inertia_shift(vec3 r, rigid_inertia B) {
    vec3 u = vec3_fma(real_set(0.5) * B.m, r, B.h);
    vec3 v = vec3_scale(real_set(-1), u);
    real two = real_set(2), xx = u.x * r.x, yy = u.y * r.y, zz = u.z * r.z;
    rigid_inertia S;
    S.m = B.m;
    S.h = vec3_fma(B.m, r, B.h);
    S.I = sym3_set(real_fma(two, yy + zz, B.I.xx), real_fma(v.x, r.y, real_fma(v.y, r.x, B.I.xy)),
                   real_fma(v.x, r.z, real_fma(v.z, r.x, B.I.xz)), real_fma(two, xx + zz, B.I.yy),
                   real_fma(v.y, r.z, real_fma(v.z, r.y, B.I.yz)), real_fma(two, xx + yy, B.I.zz));
    return S;
}

/* Transforms an inertia to the parent's frame. */
static inline rigid_inertia rigid_inertia_to_parent(placement X, rigid_inertia B) {
    B.h = mat3_apply(X.R, B.h);
    B.I = sym3_rotate(X.R, B.I);
    return rigid_inertia_shift(X.r, B);
}

/* Inertia of an articulated body, a symmetric 6 x 6 matrix:
 *     n = A w + B v        f = B' w + C v */
typedef struct articulated_inertia {
    sym3 A;
    mat3 B;
    sym3 C;
} articulated_inertia;

/* Converts a rigid inertia: B = h~, C = m 1. */
static inline articulated_inertia articulated_from_rigid(rigid_inertia R) {
    real zero = real_set(0);
    articulated_inertia I;
    I.A = R.I;
    I.B =
        mat3_from_columns(vec3_set(zero, R.h.z, -R.h.y), vec3_set(-R.h.z, zero, R.h.x), vec3_set(R.h.y, -R.h.x, zero));
    I.C = sym3_set(R.m, zero, zero, R.m, zero, R.m);
    return I;
}

static inline force articulated_apply(articulated_inertia I, motion a) {
    return force_set(vec3_add(sym3_apply(I.A, a.w), mat3_apply(I.B, a.v)),
                     vec3_add(mat3_apply_transposed(I.B, a.w), sym3_apply(I.C, a.v)));
}

static inline articulated_inertia articulated_add(articulated_inertia I, articulated_inertia J) {
    articulated_inertia K;
    K.A = sym3_add(I.A, J.A);
    K.B = mat3_add(I.B, J.B);
    K.C = sym3_add(I.C, J.C);
    return K;
}

/* I - U W', where that is symmetric. */
static inline articulated_inertia articulated_downdate(articulated_inertia I, force U, force W) {
    vec3 x = mat3_column_x(I.B), y = mat3_column_y(I.B), z = mat3_column_z(I.B);
    articulated_inertia J;
    J.A = sym3_downdate(I.A, U.n, W.n);
    J.B = mat3_from_columns(vec3_fma(-W.f.x, U.n, x), vec3_fma(-W.f.y, U.n, y), vec3_fma(-W.f.z, U.n, z));
    J.C = sym3_downdate(I.C, U.f, W.f);
    return J;
}

/* Shifts an articulated inertia to a point at -r, so that its old origin is at r:
 *     B_r = B + r~ C        A_r = A - B r~ + r~ B_r' */
static inline articulated_inertia articulated_shift(vec3 r, articulated_inertia I) {
    mat3 B = I.B, C = sym3_full(I.C);
    articulated_inertia S;
    S.C = I.C;
    S.B = mat3_from_columns(vec3_cross_add(r, mat3_column_x(C), mat3_column_x(B)),
                            vec3_cross_add(r, mat3_column_y(C), mat3_column_y(B)),
                            vec3_cross_add(r, mat3_column_z(C), mat3_column_z(B)));
    mat3 P = S.B;
    /* -B r~ = (r~ B')'. */
    S.A.xx = real_fma(r.y, B.xz + P.xz, real_fma(-r.z, B.xy + P.xy, I.A.xx));
    S.A.yy = real_fma(r.z, B.yx + P.yx, real_fma(-r.x, B.yz + P.yz, I.A.yy));
    S.A.zz = real_fma(r.x, B.zy + P.zy, real_fma(-r.y, B.zx + P.zx, I.A.zz));
    S.A.xy = real_fma(r.z, B.xx - P.yy, real_fma(-r.x, B.xz, real_fma(r.y, P.yz, I.A.xy)));
    S.A.xz = real_fma(r.y, P.zz - B.xx, real_fma(r.x, B.xy, real_fma(-r.z, P.zy, I.A.xz)));
    S.A.yz = real_fma(r.x, B.yy - P.zz, real_fma(-r.y, B.yx, real_fma(r.z, P.zx, I.A.yz)));
    return S;
}

/* Transforms an inertia to the parent's frame. */
static inline articulated_inertia articulated_to_parent(placement X, articulated_inertia I) {
    articulated_inertia turned;
    turned.A = sym3_rotate(X.R, I.A);
    turned.B = mat3_rotate(X.R, I.B);
    turned.C = sym3_rotate(X.R, I.C);
    return articulated_shift(X.r, turned);
}

/* Transforms an inertia of the parent to the child's frame. */
static inline articulated_inertia articulated_to_child(placement X, articulated_inertia I) {
    mat3 R = mat3_transpose(X.R);
    articulated_inertia moved = articulated_shift(vec3_sub(vec3_zero(), X.r), I);
    moved.A = sym3_rotate(R, moved.A);
    moved.B = mat3_rotate(R, moved.B);
    moved.C = sym3_rotate(R, moved.C);
    return moved;
}

#endif
