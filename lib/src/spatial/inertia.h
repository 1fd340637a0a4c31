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

/* The same inertia in the parent's frame. With u = R h + m r / 2:
 *     h_p = R h + m r        I_p = R I R' + 2 (u . r) 1 - u r' - r u' */
static inline rigid_inertia rigid_inertia_to_parent(placement X, rigid_inertia B) {
    vec3 h = mat3_apply(X.R, B.h);
    vec3 u = vec3_fma(0.5 * B.m, X.r, h);
    sym3 I = sym3_rotate(X.R, B.I);
    vec3 v = vec3_scale(real_set(-1), u);
    real xx = u.x * X.r.x, yy = u.y * X.r.y, zz = u.z * X.r.z;
    rigid_inertia P;
    P.m = B.m;
    P.h = vec3_fma(B.m, X.r, h);
    P.I = sym3_set(real_fma(real_set(2), yy + zz, I.xx), real_fma(v.x, X.r.y, real_fma(v.y, X.r.x, I.xy)),
                   real_fma(v.x, X.r.z, real_fma(v.z, X.r.x, I.xz)), real_fma(real_set(2), xx + zz, I.yy),
                   real_fma(v.y, X.r.z, real_fma(v.z, X.r.y, I.yz)), real_fma(real_set(2), xx + yy, I.zz));
    return P;
}

/* Inertia of an articulated body, a symmetric 6 x 6 matrix:
 *     n = A w + B v        f = B' w + C v */
typedef struct articulated_inertia {
    sym3 A;
    mat3 B;
    sym3 C;
} articulated_inertia;

/* h~ and the diagonal m 1 turn a rigid inertia into that form. */
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

/* I - s U U' */
static inline articulated_inertia articulated_downdate(articulated_inertia I, real s, force U) {
    vec3 b = vec3_scale(-s, U.f);
    vec3 x = mat3_column_x(I.B), y = mat3_column_y(I.B), z = mat3_column_z(I.B);
    articulated_inertia J;
    J.A = sym3_downdate(I.A, s, U.n);
    J.B = mat3_from_columns(vec3_fma(b.x, U.n, x), vec3_fma(b.y, U.n, y), vec3_fma(b.z, U.n, z));
    J.C = sym3_downdate(I.C, s, U.f);
    return J;
}

/* The same inertia in the parent's frame. With A1 = R A R', B1 = R B R', C1 = R C R':
 *     C_p = C1        B_p = B1 + r~ C1        A_p = A1 - B1 r~ + r~ B_p' */
static inline articulated_inertia articulated_to_parent(placement X, articulated_inertia I) {
    mat3 B1 = mat3_rotate(X.R, I.B);
    sym3 A1 = sym3_rotate(X.R, I.A);
    articulated_inertia P;
    P.C = sym3_rotate(X.R, I.C);
    P.B = mat3_add(B1, mat3_cross(X.r, sym3_full(P.C)));
    /* -B1 r~ = (r~ B1')', so that A_p = A1 + (r~ B1')' + r~ B_p'. */
    mat3 S = mat3_cross(X.r, mat3_transpose(B1));
    mat3 T = mat3_cross(X.r, mat3_transpose(P.B));
    P.A = sym3_set(A1.xx + S.xx + T.xx, A1.xy + S.yx + T.xy, A1.xz + S.zx + T.xz, A1.yy + S.yy + T.yy,
                   A1.yz + S.zy + T.yz, A1.zz + S.zz + T.zz);
    return P;
}

#endif
