/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Computes the Coriolis wrench of a moving mass distribution whose frame rotates.
 *
 * With r' the velocity of the mass at r, H = integral of r' r^T dm and p = integral of r' dm, a rotation of the frame
 * with w causes the wrench
 *
 *     2 B w = integral of (r x (2 w x r'); 2 w x r') dm = (2 (tr(H) 1 - H) w; 2 w x p)
 *
 * B is the matrix B(I, v) of Echeandia and Wensing 2021, "Numerical methods to compute the Coriolis matrix and
 * Christoffel symbols for rigid-body systems", in whose other columns are zeros. H and p are linear in the motion and
 * are sums over bodies, even if each body moves differently.
 */
#ifndef DYNAMICS_KERNELS_CORIOLIS_MAP_H
#define DYNAMICS_KERNELS_CORIOLIS_MAP_H

#include "../spatial/inertia.h"

typedef struct momentum_field {
    mat3 H;
    vec3 p;
} momentum_field;

typedef struct coriolis_map {
    mat3 B;
    vec3 p; /* twice the momentum */
} coriolis_map;

/* Returns the field of a rigid body: H = w~ J + v h' with J = tr(I)/2 - I, and p = m v + w x h. */
static inline momentum_field momentum_field_of(rigid_inertia X, motion m) {
    sym3 I = X.I;
    vec3 w = m.w, v = m.v, h = X.h;
    real half = real_set(0.5) * (I.xx + I.yy + I.zz);
    vec3 Jx = vec3_set(half - I.xx, -I.xy, -I.xz), Jy = vec3_set(-I.xy, half - I.yy, -I.yz);
    vec3 Jz = vec3_set(-I.xz, -I.yz, half - I.zz);
    momentum_field f;
    f.H = mat3_from_columns(vec3_fma(h.x, v, vec3_cross(w, Jx)), vec3_fma(h.y, v, vec3_cross(w, Jy)),
                            vec3_fma(h.z, v, vec3_cross(w, Jz)));
    f.p = vec3_fma(X.m, v, vec3_cross(w, h));
    return f;
}

static inline momentum_field momentum_field_add(momentum_field a, momentum_field b) {
    momentum_field c;
    c.H = mat3_add(a.H, b.H);
    c.p = vec3_add(a.p, b.p);
    return c;
}

/* Returns the spatial momentum: n = integral of r x r' dm. */
static inline force momentum_field_sum(momentum_field f) {
    mat3 H = f.H;
    return force_set(vec3_set(H.zy - H.yz, H.xz - H.zx, H.yx - H.xy), f.p);
}

static inline coriolis_map coriolis_map_of(momentum_field f) {
    mat3 H = f.H;
    real two = real_set(2), minus_two = real_set(-2);
    coriolis_map c;
    c.B.xx = two * (H.yy + H.zz), c.B.xy = minus_two * H.xy, c.B.xz = minus_two * H.xz;
    c.B.yx = minus_two * H.yx, c.B.yy = two * (H.xx + H.zz), c.B.yz = minus_two * H.yz;
    c.B.zx = minus_two * H.zx, c.B.zy = minus_two * H.zy, c.B.zz = two * (H.xx + H.yy);
    c.p = vec3_add(f.p, f.p);
    return c;
}

/* Returns the map of a rigid body with the mass m, the first moment h and the second moments J, which moves with u /
 * 2. */
static inline coriolis_map coriolis_map_of_body(real m, vec3 h, sym3 J, motion u) {
    vec3 w = u.w, v = u.v;
    real xx = real_fma(w.y, J.xz, real_fma(-w.z, J.xy, v.x * h.x));
    real yy = real_fma(w.z, J.xy, real_fma(-w.x, J.yz, v.y * h.y));
    real zz = real_fma(w.x, J.yz, real_fma(-w.y, J.xz, v.z * h.z));
    coriolis_map c;
    c.B.xx = yy + zz, c.B.yy = xx + zz, c.B.zz = xx + yy;
    c.B.xy = real_fma(w.z, J.yy, real_fma(-w.y, J.yz, -(v.x * h.y)));
    c.B.xz = real_fma(w.z, J.yz, real_fma(-w.y, J.zz, -(v.x * h.z)));
    c.B.yx = real_fma(w.x, J.xz, real_fma(-w.z, J.xx, -(v.y * h.x)));
    c.B.yz = real_fma(w.x, J.zz, real_fma(-w.z, J.xz, -(v.y * h.z)));
    c.B.zx = real_fma(w.y, J.xx, real_fma(-w.x, J.xy, -(v.z * h.x)));
    c.B.zy = real_fma(w.y, J.xy, real_fma(-w.x, J.yy, -(v.z * h.y)));
    c.p = vec3_fma(m, v, vec3_cross(w, h));
    return c;
}

static inline coriolis_map coriolis_map_add(coriolis_map a, coriolis_map b) {
    coriolis_map c;
    c.B = mat3_add(a.B, b.B);
    c.p = vec3_add(a.p, b.p);
    return c;
}

/* Returns 2 B w + f. */
static inline force coriolis_apply_add(coriolis_map c, vec3 w, force f) {
    return force_set(vec3_add(mat3_apply(c.B, w), f.n), vec3_cross_add(w, c.p, f.f));
}

/* Returns 2 B w. */
static inline force coriolis_apply(coriolis_map c, vec3 w) {
    return force_set(mat3_apply(c.B, w), vec3_cross(w, c.p));
}

/* Returns 2 B' S. Its scalar product with w is the power of 2 B w under the motion S. */
static inline vec3 coriolis_apply_transposed(coriolis_map c, motion S) {
    return vec3_cross_add(c.p, S.v, mat3_apply_transposed(c.B, S.w));
}

#endif
