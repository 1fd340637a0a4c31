/*
 * External wrenches in body coordinates.
 *
 * A wrench (n; f) is given in one of three reference frames of the frame F, whose placement in its body is (R_F, r_F)
 * and in the world (R_W, r_W):
 *     local                 f_F = f              n_F = n
 *     local, world aligned  f_F = R_W' f         n_F = R_W' n
 *     world                 f_F = R_W' f         n_F = R_W' (n - r_W x f)
 * It moves from F to its body like any force.
 */
#include "instance.h"

force KERNEL(body_wrench)(const dyn_model *model, const placement *X, wrench_frame frame, const real wrench[6]) {
    const body_frame *F = &model->frames[frame.frame];
    placement in_body = placement_constant(F->pose.rotation, F->pose.position);
    force a = force_set(vec3_set(wrench[0], wrench[1], wrench[2]), vec3_set(wrench[3], wrench[4], wrench[5]));
    if (frame.reference_frame != DYN_LOCAL) {
        placement in_world = in_body;
        for (int i = F->body; i >= 0; i = model->bodies[i].parent) {
            in_world = placement_compose(X[i], in_world);
        }
        if (frame.reference_frame == DYN_WORLD) {
            a.n = vec3_sub(a.n, vec3_cross(in_world.r, a.f));
        }
        a = force_set(mat3_apply_transposed(in_world.R, a.n), mat3_apply_transposed(in_world.R, a.f));
    }
    return force_to_parent(in_body, a);
}
