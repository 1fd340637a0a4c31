/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Placement of a body in its parent: (R, r) = (R_T, r_T) o (R_J(q), r_J(q)), tree transform times joint transform.
 *
 * Source: Featherstone 2008, section 4.1 and table 4.1.
 */
#ifndef DYNAMICS_MODEL_JOINT_PLACEMENT_H
#define DYNAMICS_MODEL_JOINT_PLACEMENT_H

#include "joint.h"

/* Returns the angle of a joint about its z axis, or zero if it does not rotate about it alone. */
static inline real joint_angle(const body *b, const real *q) {
    switch (b->motion) {
    case MOTION_REVOLUTE:
    case MOTION_HELICAL:
        return rounded_set(constants_of(b)->ratio) * q[0] + rounded_set(constants_of(b)->offset);
    case MOTION_CYLINDRICAL:
        return q[0];
    case MOTION_PLANAR:
        return q[2];
    default:
        return real_set(0);
    }
}

/* Returns R Rz(angle). The third column does not change. */
static inline mat3 turn_about_z(mat3 R, real s, real c) {
    vec3 x = mat3_column_x(R), y = mat3_column_y(R);
    return mat3_from_columns(vec3_fma(c, x, vec3_scale(s, y)), vec3_fma(c, y, vec3_scale(-s, x)), mat3_column_z(R));
}

/* Returns the rotation of a quaternion x, y, z, w of any length: R = 1 + 2 (w e~ + e~ e~) / |q|^2. */
static inline mat3 quaternion_rotation(const real *q) {
    real one = real_set(1), s = real_set(2) / (q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    real x = s * q[0], y = s * q[1], z = s * q[2];
    real xx = q[0] * x, xy = q[0] * y, xz = q[0] * z, yy = q[1] * y, yz = q[1] * z, zz = q[2] * z;
    real wx = q[3] * x, wy = q[3] * y, wz = q[3] * z;
    return mat3_from_columns(vec3_set(one - (yy + zz), xy + wz, xz - wy), vec3_set(xy - wz, one - (xx + zz), yz + wx),
                             vec3_set(xz + wy, yz - wx, one - (xx + yy)));
}

/* Returns the origin of X shifted by d along its z axis. */
static inline vec3 shift_along_z(placement X, real d) {
    return vec3_fma(d, mat3_column_z(X.R), X.r);
}

/* Returns the placement of b in its parent, given its coordinates and the sine and cosine of its angle. */
static inline placement joint_placement(const body *b, const real *q, real s, real c) {
    const body_constants *constants = constants_of(b);
    placement X;
    X.R = mat3_rounded(constants->rotation), X.r = vec3_rounded(constants->position);
    switch (b->motion) {
    case MOTION_REVOLUTE:
        X.R = turn_about_z(X.R, s, c);
        break;
    case MOTION_PRISMATIC:
        X.r = shift_along_z(X, rounded_set(constants->ratio) * q[0] + rounded_set(constants->offset));
        break;
    case MOTION_HELICAL:
        X.r = shift_along_z(X, rounded_set(constants->pitch) *
                                   (rounded_set(constants->ratio) * q[0] + rounded_set(constants->offset)));
        X.R = turn_about_z(X.R, s, c);
        break;
    case MOTION_CYLINDRICAL:
        X.r = shift_along_z(X, q[1]);
        X.R = turn_about_z(X.R, s, c);
        break;
    case MOTION_PLANAR:
        X.r = vec3_add(X.r, mat3_apply(X.R, vec3_set(q[0], q[1], real_set(0))));
        X.R = turn_about_z(X.R, s, c);
        break;
    case MOTION_SPHERICAL:
        X.R = mat3_multiply(X.R, quaternion_rotation(q));
        break;
    case MOTION_FLOATING:
        X.r = vec3_add(X.r, mat3_apply(X.R, vec3_set(q[0], q[1], q[2])));
        X.R = mat3_multiply(X.R, quaternion_rotation(q + 3));
        break;
    }
    return X;
}

#endif
