/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Places bodies in the frame of the derivatives (columns.h), step by step from a body to its child.
 */
#ifndef DYNAMICS_KERNELS_DERIVATIVE_FRAMES_H
#define DYNAMICS_KERNELS_DERIVATIVE_FRAMES_H

#include "derivative_state.h"
#include "hinge.h"
#include "../model/joint_placement.h"

/* Returns the placement of a body in its parent. */
static inline placement placement_at_joint(const derivative_state *s, const body *b, int i) {
    return joint_placement(b, s->q + b->q_index, s->turns.sine[i], s->turns.cosine[i]);
}

/* Returns a_0 = -g in the axes of a body that is connected to the world. */
static inline vec3 root_gravity(const derivative_state *s, int i) {
    const body *b = &s->tree.model->bodies[i];
    vec3 a_0 = vec3_sub(vec3_zero(), vec3_constant(s->gravity));
    if (b->hinge) {
        return hinge_to_child(hinge_at(b, s->turns, i), a_0);
    }
    return mat3_apply_transposed(placement_at_joint(s, b, i).R, a_0);
}

/* One row of a placement (R, r). */
typedef struct placement_row {
    real x, y, z, r;
} placement_row;

/* Returns the row of a body that the hinge h connects to a body with the row W. The order of sums shortens the
 * dependency chain. */
KERNEL_STEP placement_row row_on_hinge(hinge h, placement_row W) {
    real tilted = real_fma(h.tilt_c, W.y, h.tilt_s * W.z);
    placement_row X;
    X.x = real_fma(h.s, tilted, h.c * W.x);
    X.y = real_fma(h.c, tilted, -h.s * W.x);
    X.z = real_fma(-h.tilt_s, W.y, h.tilt_c * W.z);
    X.r = W.r + real_fma(h.r.x, W.x, real_fma(h.r.y, W.y, h.r.z * W.z));
    return X;
}

#endif
