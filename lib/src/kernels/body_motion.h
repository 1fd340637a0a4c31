/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Computes the motion of a body from that of its parent.
 *
 * In body coordinates, with primes for quantities of the parent transformed to the child, v_J = S v and a_J = S a the
 * relative motion of the joint, and a the acceleration of the body's origin:
 *     w = w' + w_J                     w' = R' w_p
 *     alpha = alpha' + w' x w_J + alpha_J
 *     U = alpha~ + w~ w~
 *     a = R' (a_p + U_p r) + (2 w' + w_J) x v_J + a_J
 * U x is the acceleration of the point x relative to the origin, so that no linear velocity is needed.
 *
 * Source: Luh, Walker and Paul 1980; the tensor U: Balafoutis and Patel 1991, algorithm 5.7.
 */
#ifndef DYNAMICS_KERNELS_BODY_MOTION_H
#define DYNAMICS_KERNELS_BODY_MOTION_H

#include "hinge.h"

typedef struct body_motion {
    vec3 w, alpha, a;
    mat3 U;
} body_motion;

/* Returns U = alpha~ + w~ w~. */
static inline mat3 acceleration_tensor(vec3 w, vec3 alpha) {
    real yy = -(w.y * w.y), zz = -(w.z * w.z);
    return mat3_from_columns(
        vec3_set(real_fma(-w.y, w.y, zz), real_fma(w.x, w.y, alpha.z), real_fma(w.x, w.z, -alpha.y)),
        vec3_set(real_fma(w.x, w.y, -alpha.z), real_fma(-w.x, w.x, zz), real_fma(w.y, w.z, alpha.x)),
        vec3_set(real_fma(w.x, w.z, alpha.y), real_fma(w.y, w.z, -alpha.x), real_fma(-w.x, w.x, yy)));
}

/* Returns the motion of the world, in which gravity is an acceleration: a_0 = -g. */
static inline body_motion world_motion(const double gravity[3]) {
    body_motion world;
    world.w = world.alpha = vec3_zero();
    world.a = vec3_sub(vec3_zero(), vec3_constant(gravity));
    world.U = acceleration_tensor(world.w, world.alpha);
    return world;
}

/* Returns the acceleration a_p + U_p r of the point r of the parent. */
static inline vec3 point_acceleration(const body_motion *parent, vec3 r) {
    mat3 U = parent->U;
    return vec3_set(vec3_dot_add(vec3_set(U.xx, U.xy, U.xz), r, parent->a.x),
                    vec3_dot_add(vec3_set(U.yx, U.yy, U.yz), r, parent->a.y),
                    vec3_dot_add(vec3_set(U.zx, U.zy, U.zz), r, parent->a.z));
}

/* Computes the motion k of a body with the placement X, whose joint has any type. */
KERNEL_STEP void carry_motion(const body *b, motion_type type, placement X, const body_motion *parent, const real *v,
                              const real *a, body_motion *k) {
    motion vJ = joint_motion(b, type, v), aJ = joint_motion(b, type, a);
    vec3 w = mat3_apply_transposed(X.R, parent->w);
    k->w = vec3_add(w, vJ.w);
    k->alpha = vec3_add(vec3_add(mat3_apply_transposed(X.R, parent->alpha), vec3_cross(w, vJ.w)), aJ.w);
    k->U = acceleration_tensor(k->w, k->alpha);
    k->a = mat3_apply_transposed(X.R, point_acceleration(parent, X.r));
    if (type != MOTION_REVOLUTE && type != MOTION_SPHERICAL) {
        k->a = vec3_add(k->a, vec3_add(vec3_cross(vec3_add(w, k->w), vJ.v), aJ.v));
    }
}

/* Propagates a body's motion through a hinge. */
KERNEL_STEP body_motion carry_through_hinge(hinge h, const body_motion *parent, real v, real a) {
    body_motion k;
    vec3 w = hinge_to_child(h, parent->w), alpha = hinge_to_child(h, parent->alpha);
    k.w = vec3_set(w.x, w.y, w.z + v);
    k.alpha = vec3_set(real_fma(w.y, v, alpha.x), real_fma(-w.x, v, alpha.y), alpha.z + a);
    k.a = hinge_to_child(h, point_acceleration(parent, h.r));
    k.U = acceleration_tensor(k.w, k.alpha);
    return k;
}

/* Computes the motion of a body that a hinge connects to the world. */
KERNEL_STEP body_motion carry_from_world(hinge h, const double gravity[3], real v, real a) {
    real zero = real_set(0), vv = -(v * v);
    body_motion k;
    k.w = vec3_set(zero, zero, v);
    k.alpha = vec3_set(zero, zero, a);
    k.a = hinge_to_child(h, vec3_sub(vec3_zero(), vec3_constant(gravity)));
    k.U = mat3_from_columns(vec3_set(vv, a, zero), vec3_set(-a, vv, zero), vec3_zero());
    return k;
}

#endif
