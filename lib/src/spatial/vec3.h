/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Vectors and matrices of three-dimensional space, one sample in each lane.
 */
#ifndef DYNAMICS_SPATIAL_VEC3_H
#define DYNAMICS_SPATIAL_VEC3_H

#include "real.h"

typedef struct vec3 {
    real x, y, z;
} vec3;

typedef struct mat3 {
    real xx, xy, xz, yx, yy, yz, zx, zy, zz;
} mat3;

/* Symmetric matrix. */
typedef struct sym3 {
    real xx, xy, xz, yy, yz, zz;
} sym3;

static inline vec3 vec3_set(real x, real y, real z) {
    vec3 a;
    a.x = x;
    a.y = y;
    a.z = z;
    return a;
}

static inline vec3 vec3_zero(void) {
    return vec3_set(real_set(0), real_set(0), real_set(0));
}

/* Returns the constant vector a[0..2], equal in every lane. */
static inline vec3 vec3_constant(const double *a) {
    return vec3_set(real_set(a[0]), real_set(a[1]), real_set(a[2]));
}

/* Loads constants that are already rounded to the precision of the instance. */
static inline vec3 vec3_rounded(const rounded *a) {
    return vec3_set(rounded_set(a[0]), rounded_set(a[1]), rounded_set(a[2]));
}

static inline vec3 vec3_add(vec3 a, vec3 b) {
    return vec3_set(a.x + b.x, a.y + b.y, a.z + b.z);
}

static inline vec3 vec3_sub(vec3 a, vec3 b) {
    return vec3_set(a.x - b.x, a.y - b.y, a.z - b.z);
}

static inline vec3 vec3_scale(real s, vec3 a) {
    return vec3_set(s * a.x, s * a.y, s * a.z);
}

/* s a + b. */
static inline vec3 vec3_fma(real s, vec3 a, vec3 b) {
    return vec3_set(real_fma(s, a.x, b.x), real_fma(s, a.y, b.y), real_fma(s, a.z, b.z));
}

static inline real vec3_dot(vec3 a, vec3 b) {
    return real_fma(a.x, b.x, real_fma(a.y, b.y, a.z * b.z));
}

/* a . b + c. */
static inline real vec3_dot_add(vec3 a, vec3 b, real c) {
    return real_fma(a.x, b.x, real_fma(a.y, b.y, real_fma(a.z, b.z, c)));
}

/* a x b. */
static inline vec3 vec3_cross(vec3 a, vec3 b) {
    return vec3_set(real_fma(a.y, b.z, -(a.z * b.y)), real_fma(a.z, b.x, -(a.x * b.z)),
                    real_fma(a.x, b.y, -(a.y * b.x)));
}

/* a x b + c. */
static inline vec3 vec3_cross_add(vec3 a, vec3 b, vec3 c) {
    return vec3_set(real_fma(a.y, b.z, real_fma(-a.z, b.y, c.x)), real_fma(a.z, b.x, real_fma(-a.x, b.z, c.y)),
                    real_fma(a.x, b.y, real_fma(-a.y, b.x, c.z)));
}

/* Returns the row-major constant matrix a[0..8]. */
static inline mat3 mat3_constant(const double *a) {
    mat3 A;
    A.xx = real_set(a[0]), A.xy = real_set(a[1]), A.xz = real_set(a[2]);
    A.yx = real_set(a[3]), A.yy = real_set(a[4]), A.yz = real_set(a[5]);
    A.zx = real_set(a[6]), A.zy = real_set(a[7]), A.zz = real_set(a[8]);
    return A;
}

static inline mat3 mat3_rounded(const rounded *a) {
    mat3 A;
    A.xx = rounded_set(a[0]), A.xy = rounded_set(a[1]), A.xz = rounded_set(a[2]);
    A.yx = rounded_set(a[3]), A.yy = rounded_set(a[4]), A.yz = rounded_set(a[5]);
    A.zx = rounded_set(a[6]), A.zy = rounded_set(a[7]), A.zz = rounded_set(a[8]);
    return A;
}

/* A v. */
static inline vec3 mat3_apply(mat3 A, vec3 v) {
    return vec3_set(real_fma(A.xx, v.x, real_fma(A.xy, v.y, A.xz * v.z)),
                    real_fma(A.yx, v.x, real_fma(A.yy, v.y, A.yz * v.z)),
                    real_fma(A.zx, v.x, real_fma(A.zy, v.y, A.zz * v.z)));
}

/* A' v. */
static inline vec3 mat3_apply_transposed(mat3 A, vec3 v) {
    return vec3_set(real_fma(A.xx, v.x, real_fma(A.yx, v.y, A.zx * v.z)),
                    real_fma(A.xy, v.x, real_fma(A.yy, v.y, A.zy * v.z)),
                    real_fma(A.xz, v.x, real_fma(A.yz, v.y, A.zz * v.z)));
}

static inline vec3 mat3_column_x(mat3 A) {
    return vec3_set(A.xx, A.yx, A.zx);
}

static inline vec3 mat3_column_y(mat3 A) {
    return vec3_set(A.xy, A.yy, A.zy);
}

static inline vec3 mat3_column_z(mat3 A) {
    return vec3_set(A.xz, A.yz, A.zz);
}

static inline mat3 mat3_from_columns(vec3 x, vec3 y, vec3 z) {
    mat3 A;
    A.xx = x.x, A.xy = y.x, A.xz = z.x;
    A.yx = x.y, A.yy = y.y, A.yz = z.y;
    A.zx = x.z, A.zy = y.z, A.zz = z.z;
    return A;
}

/* A B. */
static inline mat3 mat3_multiply(mat3 A, mat3 B) {
    return mat3_from_columns(mat3_apply(A, mat3_column_x(B)), mat3_apply(A, mat3_column_y(B)),
                             mat3_apply(A, mat3_column_z(B)));
}

static inline mat3 mat3_transpose(mat3 A) {
    return mat3_from_columns(vec3_set(A.xx, A.xy, A.xz), vec3_set(A.yx, A.yy, A.yz), vec3_set(A.zx, A.zy, A.zz));
}

static inline mat3 mat3_add(mat3 A, mat3 B) {
    return mat3_from_columns(vec3_add(mat3_column_x(A), mat3_column_x(B)), vec3_add(mat3_column_y(A), mat3_column_y(B)),
                             vec3_add(mat3_column_z(A), mat3_column_z(B)));
}

static inline mat3 mat3_sub(mat3 A, mat3 B) {
    return mat3_from_columns(vec3_sub(mat3_column_x(A), mat3_column_x(B)), vec3_sub(mat3_column_y(A), mat3_column_y(B)),
                             vec3_sub(mat3_column_z(A), mat3_column_z(B)));
}

/* a~ B, the cross product of a with every column of B. */
static inline mat3 mat3_cross(vec3 a, mat3 B) {
    return mat3_from_columns(vec3_cross(a, mat3_column_x(B)), vec3_cross(a, mat3_column_y(B)),
                             vec3_cross(a, mat3_column_z(B)));
}

static inline sym3 sym3_set(real xx, real xy, real xz, real yy, real yz, real zz) {
    sym3 A;
    A.xx = xx, A.xy = xy, A.xz = xz;
    A.yy = yy, A.yz = yz;
    A.zz = zz;
    return A;
}

static inline sym3 sym3_zero(void) {
    real zero = real_set(0);
    return sym3_set(zero, zero, zero, zero, zero, zero);
}

/* Returns the constant matrix with entries a[0..5] = xx xy xz yy yz zz, rounded to the precision of the instance. */
static inline sym3 sym3_rounded(const rounded *a) {
    return sym3_set(rounded_set(a[0]), rounded_set(a[1]), rounded_set(a[2]), rounded_set(a[3]), rounded_set(a[4]),
                    rounded_set(a[5]));
}

static inline sym3 sym3_add(sym3 A, sym3 B) {
    return sym3_set(A.xx + B.xx, A.xy + B.xy, A.xz + B.xz, A.yy + B.yy, A.yz + B.yz, A.zz + B.zz);
}

static inline vec3 sym3_apply(sym3 A, vec3 v) {
    return vec3_set(real_fma(A.xx, v.x, real_fma(A.xy, v.y, A.xz * v.z)),
                    real_fma(A.xy, v.x, real_fma(A.yy, v.y, A.yz * v.z)),
                    real_fma(A.xz, v.x, real_fma(A.yz, v.y, A.zz * v.z)));
}

static inline mat3 sym3_full(sym3 A) {
    return mat3_from_columns(vec3_set(A.xx, A.xy, A.xz), vec3_set(A.xy, A.yy, A.yz), vec3_set(A.xz, A.yz, A.zz));
}

/* A - a b', where that is symmetric. */
static inline sym3 sym3_downdate(sym3 A, vec3 a, vec3 b) {
    return sym3_set(real_fma(-a.x, b.x, A.xx), real_fma(-a.x, b.y, A.xy), real_fma(-a.x, b.z, A.xz),
                    real_fma(-a.y, b.y, A.yy), real_fma(-a.y, b.z, A.yz), real_fma(-a.z, b.z, A.zz));
}

/* Returns whether R is known to be a turn about z. Only symbolic numbers can know this (real_is). */
static inline int mat3_turns_about_z(mat3 R) {
    return real_is(R.zz, 1) && real_is(R.xz, 0) && real_is(R.yz, 0);
}

/* Returns whether R is known to be a turn about x. Only symbolic numbers can know this (real_is). */
static inline int mat3_turns_about_x(mat3 R) {
    return real_is(R.xx, 1) && real_is(R.xy, 0) && real_is(R.xz, 0);
}

/* Updates in place the block of a congruence R B R' that a plane turn by (cosine, sine) changes on both sides:
 *     xx += a, yy -= a, xy += e, yx += e    a = s^2 (yy - xx) - s c (xy + yx)    e = -s^2 (xy + yx) - s c (yy - xx) */
static inline void turn_block(real cosine, real sine, real *xx, real *xy, real *yx, real *yy) {
    real ss = sine * sine, sc = sine * cosine, sum = *xy + *yx, difference = *yy - *xx;
    real a = real_fma(ss, difference, -(sc * sum)), e = real_fma(ss, sum, sc * difference);
    *xx += a, *yy -= a;
    *xy -= e, *yx -= e;
}

/* Turns the pair (x, y) by (cosine, sine), in place. */
static inline void turn_pair(real cosine, real sine, real *x, real *y) {
    real u = *x, v = *y;
    *x = real_fma(cosine, u, -(sine * v));
    *y = real_fma(sine, u, cosine * v);
}

/* Computes R A R' for a turn about z. */
static inline mat3 mat3_turn_about_z(real cosine, real sine, mat3 A) {
    turn_block(cosine, sine, &A.xx, &A.xy, &A.yx, &A.yy);
    turn_pair(cosine, sine, &A.xz, &A.yz);
    turn_pair(cosine, sine, &A.zx, &A.zy);
    return A;
}

/* Computes R A R' for a turn about x. */
static inline mat3 mat3_turn_about_x(real cosine, real sine, mat3 A) {
    turn_block(cosine, sine, &A.yy, &A.yz, &A.zy, &A.zz);
    turn_pair(cosine, sine, &A.xy, &A.xz);
    turn_pair(cosine, sine, &A.yx, &A.zx);
    return A;
}

/* Computes R A R' for any rotation, at less cost for one that is known to be about z or x. */
static inline mat3 mat3_rotate(mat3 R, mat3 A) {
    if (mat3_turns_about_z(R)) {
        return mat3_turn_about_z(R.xx, R.yx, A);
    }
    if (mat3_turns_about_x(R)) {
        return mat3_turn_about_x(R.yy, R.zy, A);
    }
    return mat3_multiply(mat3_multiply(R, A), mat3_transpose(R));
}

/* R A R'. */
static inline sym3 sym3_rotate(mat3 R, sym3 A) {
    if (mat3_turns_about_z(R) || mat3_turns_about_x(R)) {
        mat3 T = mat3_rotate(R, sym3_full(A));
        return sym3_set(T.xx, T.xy, T.xz, T.yy, T.yz, T.zz);
    }
    mat3 B = mat3_multiply(R, sym3_full(A));
    return sym3_set(real_fma(B.xx, R.xx, real_fma(B.xy, R.xy, B.xz * R.xz)),
                    real_fma(B.xx, R.yx, real_fma(B.xy, R.yy, B.xz * R.yz)),
                    real_fma(B.xx, R.zx, real_fma(B.xy, R.zy, B.xz * R.zz)),
                    real_fma(B.yx, R.yx, real_fma(B.yy, R.yy, B.yz * R.yz)),
                    real_fma(B.yx, R.zx, real_fma(B.yy, R.zy, B.yz * R.zz)),
                    real_fma(B.zx, R.zx, real_fma(B.zy, R.zy, B.zz * R.zz)));
}

#endif
