/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Converts a wrench (n; f) at a frame F to body coordinates. The placement of F in its body is (R_F, r_F), and in the
 * world (R_W, r_W):
 *     local                 f_F = f              n_F = n
 *     local, world aligned  f_F = R_W' f         n_F = R_W' n
 *     world                 f_F = R_W' f         n_F = R_W' (n - r_W x f)
 * (n_F; f_F) is transformed from F to the body like any force.
 */
#ifndef DYNAMICS_KERNELS_FRAME_WRENCH_H
#define DYNAMICS_KERNELS_FRAME_WRENCH_H

#include "instance.h"

/* Returns the placement in the world of a frame with the placement in_body in its carrier. X are the placements of the
 * bodies in their parents. */
static inline placement frame_in_world(const dyn_model *model, const placement *X, int carrier, placement in_body) {
    for (int i = carrier; i >= 0; i = model->bodies[i].parent) {
        in_body = placement_compose(X[i], in_body);
    }
    return in_body;
}

/* Returns the wrench a in the axes and about the origin of the body. in_body and in_world are the placements of its
 * frame; in_world is not used with DYN_REFERENCE_FRAME_LOCAL. */
static inline force frame_wrench_in_body(placement in_body, placement in_world, dyn_reference_frame reference_frame,
                                         force a) {
    if (reference_frame == DYN_REFERENCE_FRAME_WORLD) {
        a.n = vec3_sub(a.n, vec3_cross(in_world.r, a.f));
    }
    if (reference_frame != DYN_REFERENCE_FRAME_LOCAL) {
        a = force_set(mat3_apply_transposed(in_world.R, a.n), mat3_apply_transposed(in_world.R, a.f));
    }
    return force_to_parent(in_body, a);
}

#endif
