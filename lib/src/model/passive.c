/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Joints of a description that no motor drives.
 */
#include <dynamics/constrained_inverse_dynamics.h>

#include "description.h"
#include "error.h"
#include "normal_form.h"

bool builder_is_passive(const dyn_builder *builder, int joint) {
    const dyn_joint_description *j = &builder->joints[joint];
    return j->type != DYN_JOINT_TYPE_FIXED && name_index_find(&builder->passive_joints, j->name) >= 0;
}

dyn_status dyn_builder_set_passive(dyn_builder *builder, const char *joint, dyn_error *error) {
    if (name_index_find(&builder->joint_names, joint) < 0) {
        return dyn_error_set(error, DYN_NOT_FOUND, "joint", "there is no joint %s; correct the name", joint);
    }
    bool is_there = name_index_find(&builder->passive_joints, joint) >= 0;
    return is_there || name_index_add(&builder->passive_joints, joint, 0) ? DYN_OK : dyn_error_memory(error);
}

dyn_status builder_copy_passive(const dyn_builder *from, dyn_error *error, dyn_builder *to) {
    dyn_status status = DYN_OK;
    for (int j = 0; j < from->joint_count && status == DYN_OK; j++) {
        const char *name = from->joints[j].name;
        if (builder_is_passive(from, j) && name_index_find(&to->joint_names, name) >= 0) {
            status = dyn_builder_set_passive(to, name, error);
        }
    }
    return status;
}

bool dyn_builder_joint_is_passive(const dyn_builder *builder, int joint) {
    return joint >= 0 && joint < builder->joint_count && builder_is_passive(builder, joint);
}

bool dyn_model_joint_is_passive(const dyn_model *model, int joint) {
    const dyn_joint *j = dyn_model_joint(model, joint);
    return j &&
           (j->type == DYN_JOINT_TYPE_FLOATING || name_index_find(&model->description->passive_joints, j->name) >= 0);
}
