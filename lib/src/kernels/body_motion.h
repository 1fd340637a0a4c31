/*
 * The motion of a body, carried from its parent.
 *
 * In body coordinates; primes are quantities of the parent carried to the child, v_J = S v and a_J = S a the joint's
 * relative motion, and a the acceleration of the body's origin:
 *     w = w' + w_J                     w' = R' w_p
 *     alpha = alpha' + w' x w_J + alpha_J
 *     U = alpha~ + w~ w~
 *     a = R' (a_p + U_p r) + (2 w' + w_J) x v_J + a_J
 * U x is the acceleration of a point at x against the origin; so no linear velocity is needed.
 *
 * Source: Luh, Walker and Paul 1980; the tensor U: Balafoutis and Patel 1991, algorithm 5.7.
 */
#ifndef DYNAMICS_KERNELS_BODY_MOTION_H
#define DYNAMICS_KERNELS_BODY_MOTION_H

#include "instance.h"

typedef struct body_motion {
    vec3 w, alpha, a;
    mat3 U;
} body_motion;

/* U = alpha~ + w~ w~ */
static inline mat3 acceleration_tensor(vec3 w, vec3 alpha) {
    real xx = w.x * w.x, yy = w.y * w.y, zz = w.z * w.z;
    real xy = w.x * w.y, xz = w.x * w.z, yz = w.y * w.z;
    return mat3_from_columns(vec3_set(-(yy + zz), xy + alpha.z, xz - alpha.y),
                             vec3_set(xy - alpha.z, -(xx + zz), yz + alpha.x),
                             vec3_set(xz + alpha.y, yz - alpha.x, -(xx + yy)));
}

/* The world, in which gravity is an acceleration: a_0 = -g. */
static inline body_motion world_motion(const double gravity[3]) {
    body_motion world;
    world.w = world.alpha = vec3_zero();
    world.a = vec3_sub(vec3_zero(), vec3_constant(gravity));
    world.U = acceleration_tensor(world.w, world.alpha);
    return world;
}

/* One step outward. */
KERNEL_STEP void carry_motion(const body *b, motion_type type, placement X, const body_motion *parent, const real *v,
                              const real *a, body_motion *k) {
    motion vJ = joint_motion(b, type, v), aJ = joint_motion(b, type, a);
    vec3 w = mat3_apply_transposed(X.R, parent->w);
    k->w = vec3_add(w, vJ.w);
    k->alpha = vec3_add(vec3_add(mat3_apply_transposed(X.R, parent->alpha), vec3_cross(w, vJ.w)), aJ.w);
    k->U = acceleration_tensor(k->w, k->alpha);
    k->a = mat3_apply_transposed(X.R, vec3_add(parent->a, mat3_apply(parent->U, X.r)));
    if (type != MOTION_REVOLUTE && type != MOTION_SPHERICAL) {
        k->a = vec3_add(k->a, vec3_add(vec3_cross(vec3_add(w, k->w), vJ.v), aJ.v));
    }
}

#endif
