/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Transforms external wrenches from their reference frames to body coordinates (frame_wrench.h), and subtracts them
 * from the wrenches of the bodies.
 */
#include "frame_wrench.h"

force KERNEL(body_wrench)(const dyn_model *model, const placement *X, wrench_frame frame, const real wrench[6]) {
    const body_frame *F = &model->frames[frame.frame];
    placement in_body = placement_constant(F->pose.rotation, F->pose.position);
    placement in_world =
        frame.reference_frame == DYN_REFERENCE_FRAME_LOCAL ? in_body : frame_in_world(model, X, F->body, in_body);
    force a = force_set(vec3_set(wrench[0], wrench[1], wrench[2]), vec3_set(wrench[3], wrench[4], wrench[5]));
    return frame_wrench_in_body(in_body, in_world, frame.reference_frame, a);
}

void KERNEL(subtract_wrenches)(const dyn_model *model, void *memory, const real *q, const wrench_set *forces,
                               force *f) {
    const placement *X = KERNEL(placements)(model, q, &memory);
    for (size_t j = 0; j < forces->count; j++) {
        int i = model->frames[forces->frames[j].frame].body;
        force wrench = KERNEL(body_wrench)(model, X, forces->frames[j], (const real *)forces->wrenches + 6 * j);
        f[i] = force_sub(f[i], wrench);
    }
}
