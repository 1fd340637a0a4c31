/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Products of vectors of three numbers, outside of kernels. spatial/vec3.h has those of lanes.
 */
#ifndef DYNAMICS_MODEL_VECTOR3_H
#define DYNAMICS_MODEL_VECTOR3_H

/* Returns the scalar product. */
static inline double vector3_dot(const double a[3], const double b[3]) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* Computes a x b; `out` may be a or b. */
static inline void vector3_cross(const double a[3], const double b[3], double out[3]) {
    const double c[3] = {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
    out[0] = c[0], out[1] = c[1], out[2] = c[2];
}

#endif
