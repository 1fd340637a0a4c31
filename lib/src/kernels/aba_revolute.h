/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Steps of the articulated-body algorithm (aba.c) for revolute joints, if no diagonal is added to M, and for hinges.
 *
 * A revolute joint has S = e_z, so that I_a S = 0 and the moment of p_a about z is tau. S' W is one, and the component
 * of a along z is u less the other five products. These numbers are neither computed nor stored. A hinge transforms
 * vectors and inertias by two plane rotations (hinge.h).
 *
 * Source: McMillan and Orin 1995.
 */
#ifndef DYNAMICS_KERNELS_ABA_REVOLUTE_H
#define DYNAMICS_KERNELS_ABA_REVOLUTE_H

#include "hinge.h"

/* Stores the velocity product c = v x S v_i of a revolute joint. Its components along z are zero and are not stored. */
static inline void set_turn_product(motion v, real rate, motion *c) {
    c->w.x = v.w.y * rate, c->w.y = -(v.w.x * rate);
    c->v.x = v.v.y * rate, c->v.y = -(v.v.x * rate);
}

/* Eliminates a revolute joint, to whose D no diagonal is added. Replaces I by I_a and p by p_a. Returns D. */
KERNEL_STEP real eliminate_revolute(const motion *c, real tau, articulated_inertia *I, force *p, force *W, real *u) {
    force U = force_set(vec3_set(I->A.xz, I->A.yz, I->A.zz), vec3_set(I->B.zx, I->B.zy, I->B.zz));
    real D = U.n.z, zero = real_set(0), inverse_D = real_set(1) / D;
    force across = force_set(vec3_set(inverse_D * U.n.x, inverse_D * U.n.y, zero), vec3_scale(inverse_D, U.f));
    articulated_inertia J = articulated_downdate(*I, U, across);
    J.A.xz = J.A.yz = J.A.zz = J.B.zx = J.B.zy = J.B.zz = zero;
    *u = inverse_D * (tau - p->n.z);
    force p_a = force_fma(*u, U, *p);
    real cx = c->w.x, cy = c->w.y, dx = c->v.x, dy = c->v.y;
    p->n.x = real_fma(J.A.xx, cx, real_fma(J.A.xy, cy, real_fma(J.B.xx, dx, real_fma(J.B.xy, dy, p_a.n.x))));
    p->n.y = real_fma(J.A.xy, cx, real_fma(J.A.yy, cy, real_fma(J.B.yx, dx, real_fma(J.B.yy, dy, p_a.n.y))));
    p->n.z = tau;
    p->f.x = real_fma(J.B.xx, cx, real_fma(J.B.yx, cy, real_fma(J.C.xx, dx, real_fma(J.C.xy, dy, p_a.f.x))));
    p->f.y = real_fma(J.B.xy, cx, real_fma(J.B.yy, cy, real_fma(J.C.xy, dx, real_fma(J.C.yy, dy, p_a.f.y))));
    p->f.z = real_fma(J.B.xz, cx, real_fma(J.B.yz, cy, real_fma(J.C.xz, dx, real_fma(J.C.yz, dy, p_a.f.z))));
    W->n.x = across.n.x, W->n.y = across.n.y;
    W->f = across.f;
    *I = J;
    return D;
}

/* Propagates a hinge's articulated inertia to the parent's frame. Adds p to `onto`. */
KERNEL_STEP articulated_inertia carry_through_hinge(hinge h, articulated_inertia I, force p, force *onto) {
    *onto = hinge_force_to_parent(h, p, *onto);
    articulated_inertia turned;
    turned.A = hinge_turn_symmetric(h, I.A);
    turned.B = hinge_turn_matrix(h, I.B);
    turned.C = hinge_turn_symmetric(h, I.C);
    return articulated_shift(h.r, turned);
}

/* Transforms the articulated inertia and the wrench of a hinge's parent to the frame of the hinge. */
KERNEL_STEP articulated_inertia carry_back_through_hinge(hinge h, articulated_inertia I, force *p) {
    articulated_inertia moved = articulated_shift(vec3_sub(vec3_zero(), h.r), I);
    *p = hinge_force_to_child(h, *p);
    moved.A = hinge_turn_back_symmetric(h, moved.A);
    moved.B = hinge_turn_back_matrix(h, moved.B);
    moved.C = hinge_turn_back_symmetric(h, moved.C);
    return moved;
}

/* Computes the acceleration of a body with a revolute joint without a diagonal, from the parent's x in the body's
 * frame. Replaces u by a_i. The result does not depend on a_i, which shortens the dependency chain. */
KERNEL_STEP motion accelerate_revolute(const motion *c, const force *W, motion x, real *u) {
    real before = x.w.z;
    x.w.x = x.w.x + c->w.x, x.w.y = x.w.y + c->w.y;
    x.v.x = x.v.x + c->v.x, x.v.y = x.v.y + c->v.y;
    real along = real_fma(x.w.x, W->n.x, real_fma(x.w.y, W->n.y, vec3_dot(x.v, W->f)));
    x.w.z = *u - along;
    *u = *u - (before + along);
    return x;
}

#endif
