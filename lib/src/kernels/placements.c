/*
 * Placement of every body in its parent: (R, r) = (R_T, r_T) o (R_J(q), r_J(q)), tree transform times joint transform.
 */
#include "instance.h"

/* R = R_T Rz(angle): only the first two columns turn. */
static inline mat3 turn_about_z(mat3 R, real angle) {
    real s, c;
    real_sincos(angle, &s, &c);
    vec3 x = mat3_column_x(R), y = mat3_column_y(R);
    return mat3_from_columns(vec3_add(vec3_scale(c, x), vec3_scale(s, y)), vec3_sub(vec3_scale(c, y), vec3_scale(s, x)),
                             mat3_column_z(R));
}

/* Rotation of a quaternion x, y, z, w of any length: R = 1 + 2 (w e~ + e~ e~) / |q|^2. */
static inline mat3 quaternion_rotation(const real *q) {
    real s = 2.0 / (q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    real x = s * q[0], y = s * q[1], z = s * q[2];
    real xx = q[0] * x, xy = q[0] * y, xz = q[0] * z, yy = q[1] * y, yz = q[1] * z, zz = q[2] * z;
    real wx = q[3] * x, wy = q[3] * y, wz = q[3] * z;
    return mat3_from_columns(vec3_set(1.0 - (yy + zz), xy + wz, xz - wy), vec3_set(xy - wz, 1.0 - (xx + zz), yz + wx),
                             vec3_set(xz + wy, yz - wx, 1.0 - (xx + yy)));
}

/* Shifts the origin by d along the frame's z. */
static inline void shift_along_z(placement *X, real d) {
    X->r = vec3_add(X->r, vec3_scale(d, mat3_column_z(X->R)));
}

placement KERNEL(joint_placement)(const body *b, const real *q) {
    q += b->q_index;
    placement X = placement_constant(b->rotation, b->position);
    switch (b->motion) {
    case MOTION_REVOLUTE:
        X.R = turn_about_z(X.R, b->ratio * q[0] + b->offset);
        break;
    case MOTION_PRISMATIC:
        shift_along_z(&X, b->ratio * q[0] + b->offset);
        break;
    case MOTION_HELICAL:
        shift_along_z(&X, b->pitch * (b->ratio * q[0] + b->offset));
        X.R = turn_about_z(X.R, b->ratio * q[0] + b->offset);
        break;
    case MOTION_CYLINDRICAL:
        shift_along_z(&X, q[1]);
        X.R = turn_about_z(X.R, q[0]);
        break;
    case MOTION_PLANAR:
        X.r = vec3_add(X.r, mat3_apply(X.R, vec3_set(q[0], q[1], real_set(0))));
        X.R = turn_about_z(X.R, q[2]);
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

void KERNEL(placements)(const dyn_model *model, const real *q, placement *X) {
    for (int i = 0; i < model->body_count; i++) {
        X[i] = KERNEL(joint_placement)(&model->bodies[i], q);
    }
}
