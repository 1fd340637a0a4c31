/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Homogeneous 4 x 4 matrices, row-major.
 */
#ifndef DYNAMICS_CLASSICAL_MAT4_H
#define DYNAMICS_CLASSICAL_MAT4_H

#include "../model/joint.h"

typedef struct mat4 {
    real e[16];
} mat4;

static inline mat4 mat4_multiply(mat4 A, mat4 B) {
    mat4 C;
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 4; j++) {
            C.e[4 * i + j] = A.e[4 * i] * B.e[j] + A.e[4 * i + 1] * B.e[4 + j] + A.e[4 * i + 2] * B.e[8 + j] +
                             A.e[4 * i + 3] * B.e[12 + j];
        }
    }
    return C;
}

/* Returns Tr(A B'), the sum of the products of their entries. */
static inline real mat4_trace_product(mat4 A, mat4 B) {
    real sum = A.e[0] * B.e[0];
    for (int i = 1; i < 16; i++) {
        sum += A.e[i] * B.e[i];
    }
    return sum;
}

/* Returns the matrix with these three rows and (0, 0, 0, corner). */
static inline mat4 mat4_from_rows(const real rows[12], real corner) {
    mat4 A;
    for (int i = 0; i < 12; i++) {
        A.e[i] = rows[i];
    }
    for (int i = 12; i < 15; i++) {
        A.e[i] = real_set(0);
    }
    A.e[15] = corner;
    return A;
}

/* Returns the transform of a placement: it maps child coordinates to parent coordinates. */
static inline mat4 mat4_of_placement(placement X) {
    const real rows[12] = {X.R.xx, X.R.xy, X.R.xz, X.r.x, X.R.yx, X.R.yy, X.R.yz, X.r.y, X.R.zx, X.R.zy, X.R.zz, X.r.z};
    return mat4_from_rows(rows, real_set(1));
}

/* Returns [w~ v; 0 0] of a motion, the rate of a transform whose frame moves so. */
static inline mat4 mat4_of_motion(motion m) {
    real zero = real_set(0);
    const real rows[12] = {zero, -m.w.z, m.w.y, m.v.x, m.w.z, zero, -m.w.x, m.v.y, -m.w.y, m.w.x, zero, m.v.z};
    return mat4_from_rows(rows, zero);
}

/* Returns the pseudo-inertia of a link, the integral of (r, 1)(r, 1)' dm in its axes. */
static inline mat4 mat4_of_inertia(const body *b) {
    const double *M = b->moments, *f = b->first_moment;
    const real rows[12] = {real_set(M[0]), real_set(M[1]), real_set(M[2]), real_set(f[0]),
                           real_set(M[1]), real_set(M[3]), real_set(M[4]), real_set(f[1]),
                           real_set(M[2]), real_set(M[4]), real_set(M[5]), real_set(f[2])};
    mat4 J = mat4_from_rows(rows, real_set(b->mass));
    for (int i = 0; i < 3; i++) {
        J.e[12 + i] = real_set(f[i]);
    }
    return J;
}

static inline mat4 mat4_add(mat4 A, mat4 B) {
    for (int i = 0; i < 16; i++) {
        A.e[i] = A.e[i] + B.e[i];
    }
    return A;
}

/* Returns x A + B. */
static inline mat4 mat4_fma(real x, mat4 A, mat4 B) {
    for (int i = 0; i < 16; i++) {
        B.e[i] = real_fma(x, A.e[i], B.e[i]);
    }
    return B;
}

static inline mat4 mat4_constant(const double *A) {
    mat4 B;
    for (int i = 0; i < 16; i++) {
        B.e[i] = real_set(A[i]);
    }
    return B;
}

static inline mat4 mat4_transpose(mat4 A) {
    mat4 B;
    for (int i = 0; i < 16; i++) {
        B.e[i] = A.e[i % 4 * 4 + i / 4];
    }
    return B;
}

static inline mat4 mat4_zero(void) {
    return mat4_of_motion(motion_zero());
}

#endif
