/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Computes the inertial wrench (n; f) of a body in motion (body_motion.h), with the first moment h = m c and the second
 * moments J = integral of r r' dm:
 *     f = m a + U h                    n = h x a + vee(U J)
 *
 * Source: Balafoutis and Patel 1991, algorithm 5.7.
 */
#ifndef DYNAMICS_KERNELS_INERTIAL_WRENCH_H
#define DYNAMICS_KERNELS_INERTIAL_WRENCH_H

#include "body_motion.h"

/* Computes the inertial wrench of a motion: f = m a + U h, n = h x a + vee(U J). */
KERNEL_STEP force inertial_wrench(real m, vec3 h, sym3 J, const body_motion *k) {
    vec3 a = k->a;
    mat3 U = k->U;
    force f;
    f.f = vec3_set(vec3_dot_add(vec3_set(U.xx, U.xy, U.xz), h, m * a.x),
                   vec3_dot_add(vec3_set(U.yx, U.yy, U.yz), h, m * a.y),
                   vec3_dot_add(vec3_set(U.zx, U.zy, U.zz), h, m * a.z));
    /* Moment vee(U J): its component x is U_z . J_y - U_y . J_z, and so on. */
    real x = real_fma(U.zx, J.xy, real_fma(U.zy, J.yy, real_fma(-U.yx, J.xz, -(U.yz * J.zz))));
    real y = real_fma(U.xy, J.yz, real_fma(U.xz, J.zz, real_fma(-U.zx, J.xx, -(U.zy * J.xy))));
    real z = real_fma(U.yz, J.xz, real_fma(U.yx, J.xx, real_fma(-U.xy, J.yy, -(U.xz * J.yz))));
    vec3 n = vec3_set(real_fma(U.zz - U.yy, J.yz, x), real_fma(U.xx - U.zz, J.xz, y), real_fma(U.yy - U.xx, J.xy, z));
    f.n = vec3_cross_add(h, a, n);
    return f;
}

/* Computes the inertial wrench of grouped parameters. `serial` is a constant: m, h_z and J_zz are zero. */
KERNEL_STEP force grouped_wrench(const grouping_constants *g, const body_motion *k, bool serial) {
    vec3 h = vec3_rounded(g->first_moment);
    sym3 J = sym3_rounded(g->moments);
    if (serial) {
        h.z = J.zz = real_set(0);
    }
    return inertial_wrench(serial ? real_set(0) : rounded_set(g->mass), h, J, k);
}

#endif
