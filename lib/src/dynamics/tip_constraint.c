/* SPDX-License-Identifier: BSD-2-Clause */
#include <dynamics/formulation.h>
#include <dynamics/frame_motion.h>
#include <dynamics/kinematics.h>

#include "../model/error.h"
#include "../model/normal_form.h"
#include "../model/vector3.h"
#include "arguments.h"

bool dyn_model_is_tip_frame(const dyn_model *model, int frame) {
    return frame >= 0 && frame < model->link_count && model->link_bodies > 0 &&
           model->frames[frame].body == model->link_bodies - 1;
}

/* Sets `to` to the direction that states the same about the origin of the world, in its axes. */
static void move_to_world(const dyn_frame_constraint *from, const double p[3], const double R[9], double to[6]) {
    double lever[3];
    for (int i = 0; i < 3; i++) {
        bool is_local = from->reference_frame == DYN_REFERENCE_FRAME_LOCAL;
        to[i] = is_local ? vector3_dot(R + 3 * i, from->direction) : from->direction[i];
        to[3 + i] = is_local ? vector3_dot(R + 3 * i, from->direction + 3) : from->direction[3 + i];
    }
    vector3_cross(p, to + 3, lever);
    for (int i = 0; i < 3 && from->reference_frame != DYN_REFERENCE_FRAME_WORLD; i++) {
        to[i] += lever[i];
    }
}

dyn_status dyn_tip_constraint_at(const dyn_model *model, dyn_workspace *workspace, const double *q, const double *v,
                                 const dyn_frame_constraint *from, dyn_tip_constraint *to, dyn_error *error) {
    double p[3], R[9], twist[6], centripetal[3];
    if (!dyn_model_is_tip_frame(model, from->frame)) {
        return dyn_error_set(error, DYN_INVALID_ARGUMENT, "frame", "frame %d is not on the last link; pass one that is",
                             from->frame);
    }
    dyn_status status = dyn_frame_pose(model, workspace, 1, q, from->frame, p, R, error);
    if (status == DYN_OK) {
        status = dyn_frame_motion(model, workspace, 1, q, v, NULL, from->frame, DYN_REFERENCE_FRAME_LOCAL_WORLD_ALIGNED,
                                  twist, NULL, NULL, error);
    }
    if (status != DYN_OK) {
        return status;
    }
    move_to_world(from, p, R, to->direction);
    to->acceleration = from->acceleration;
    if (from->reference_frame == DYN_REFERENCE_FRAME_LOCAL_WORLD_ALIGNED) {
        vector3_cross(twist, twist + 3, centripetal);
        to->acceleration -= vector3_dot(from->direction + 3, centripetal);
    }
    return DYN_OK;
}
