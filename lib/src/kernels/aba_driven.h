/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Steps of the articulated-body algorithm (aba.c) for joints that rotors drive (driven_joint.h). With g in the axes of
 * the child,
 *     U = I_A S + g        D = S' I_A S + d        u = D^-1 (tau - S' p + g' c)        I_a = I_A - U U' D^-1
 * For a hinge, I_A S is a column of I_A, and c has no components along z. In contrast to aba_revolute.h, I_a S is not
 * zero, because the wrench at the joint includes the moment of the rotors on the parent.
 *
 * Source: Jain and Rodriguez 1990 for geared motors.
 */
#ifndef DYNAMICS_KERNELS_ABA_DRIVEN_H
#define DYNAMICS_KERNELS_ABA_DRIVEN_H

#include "aba_revolute.h"
#include "driven_joint.h"

/* Eliminates the one coordinate of a joint of any type, together with its rotors: I becomes I_a, and p becomes p + U u.
 * `driving` is tau + g' c. `diagonal` may be NULL. Returns D. */
KERNEL_STEP real eliminate_driven(const body *b, vec3 g, real driving, const real *diagonal, articulated_inertia *I,
                                  force *p, force *W, real *u) {
    const motion_type type = b->motion;
    force U = articulated_apply(*I, joint_column(b, type, 0));
    real D = joint_force(b, type, 0, U) + reflected_inertia(b);
    if (diagonal) {
        D = D + diagonal[0];
    }
    real inverse_D = real_set(1) / D;
    U.n = vec3_add(U.n, g);
    *W = force_scale(inverse_D, U);
    *u = inverse_D * (driving - joint_force(b, type, 0, *p));
    *I = articulated_downdate(*I, U, *W);
    *p = force_fma(*u, U, *p);
    return D;
}

/* Eliminates a hinge together with its rotors. Replaces I by I_a and p by p_a. Returns D. */
KERNEL_STEP real eliminate_driven_hinge(const body *b, vec3 g, const motion *c, real tau, articulated_inertia *I,
                                        force *p, force *W, real *u) {
    real D = I->A.zz + reflected_inertia(b), inverse_D = real_set(1) / D;
    force U = force_set(vec3_set(I->A.xz + g.x, I->A.yz + g.y, I->A.zz + g.z), vec3_set(I->B.zx, I->B.zy, I->B.zz));
    *W = force_scale(inverse_D, U);
    *u = inverse_D * real_fma(g.x, c->w.x, real_fma(g.y, c->w.y, tau - p->n.z));
    *I = articulated_downdate(*I, U, *W);
    const motion in_plane = motion_set(vec3_set(c->w.x, c->w.y, real_set(0)), vec3_set(c->v.x, c->v.y, real_set(0)));
    *p = force_add(force_fma(*u, U, *p), articulated_apply(*I, in_plane));
    return D;
}

/* Computes the acceleration of the body of a hinge with rotors from the parent's x in the body's frame. Replaces u by
 * a_i. */
KERNEL_STEP motion accelerate_driven_hinge(const motion *c, const force *W, motion x, real *u) {
    x.w.x = x.w.x + c->w.x, x.w.y = x.w.y + c->w.y;
    x.v.x = x.v.x + c->v.x, x.v.y = x.v.y + c->v.y;
    *u = *u - spatial_dot(x, *W);
    x.w.z = x.w.z + *u;
    return x;
}

#endif
