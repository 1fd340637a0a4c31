/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Copies, changes and prunes the description of a model, from which another model is built.
 */
#include "derivation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contact_surface.h"
#include "error.h"
#include "machine_element.h"
#include "placement.h"

dyn_status derivation_begin(const dyn_model *model, dyn_error *error, dyn_builder **copy) {
    dyn_status status = builder_copy(model->description, error, copy);
    for (int j = 0; status == DYN_OK && j < (*copy)->joint_count; j++) {
        dyn_joint_description *joint = &(*copy)->joints[j];
        if (model->options.mimic == DYN_MIMIC_POLICY_INDEPENDENT || joint->type == DYN_JOINT_TYPE_FIXED) {
            free((char *)joint->mimic_joint);
            joint->mimic_joint = NULL;
        }
    }
    return status;
}

dyn_status derivation_finish(dyn_builder *copy, dyn_base base, dyn_status status, dyn_error *error,
                             dyn_model **result) {
    const dyn_build_options options = DYN_BUILD_OPTIONS_INIT(.base = base, .mimic = DYN_MIMIC_POLICY_COUPLED);
    *result = NULL;
    if (status == DYN_OK) {
        return builder_build_own(copy, &options, NULL, error, result);
    }
    dyn_builder_free(copy);
    return status;
}

dyn_base model_base(const dyn_model *model) {
    return model->floating ? DYN_BASE_FLOATING : DYN_BASE_FIXED;
}

dyn_status description_find_link(const dyn_builder *builder, const char *argument, const char *name, dyn_error *error,
                                 int *link) {
    *link = name ? name_index_find(&builder->link_names, name) : -1;
    if (*link >= 0) {
        return DYN_OK;
    }
    dyn_status status = builder_fail(builder, error, DYN_NOT_FOUND, link_element(builder, name),
                                     "robot %s has no link of this name", builder->name);
    return dyn_error_of_argument(error, status, argument);
}

dyn_status add_fixed_joint(dyn_builder *builder, const char *name, const char *parent, const char *child,
                           const dyn_pose *pose, dyn_error *error) {
    char joint_name[2 * DYN_MAX_NAME + 16];
    snprintf(joint_name, sizeof joint_name, "%s:fixed", name);
    const dyn_pose *place = pose ? pose : &identity_pose;
    dyn_joint_description joint = {
        .name = joint_name, .type = DYN_JOINT_TYPE_FIXED, .parent_link = parent, .child_link = child};
    memcpy(joint.position, place->position, sizeof joint.position);
    memcpy(joint.rotation, place->rotation, sizeof joint.rotation);
    return dyn_builder_add_joint(builder, &joint, error);
}

dyn_status add_joint_frame(dyn_builder *builder, const char *joint, const char *child, const dyn_pose *pose,
                           dyn_error *error, frame_name *frame) {
    snprintf(frame->text, sizeof frame->text, "%s:frame", joint);
    const dyn_link_description massless = {.name = frame->text};
    dyn_status status = dyn_builder_add_link(builder, &massless, error);
    return status == DYN_OK ? add_fixed_joint(builder, joint, frame->text, child, pose, error) : status;
}

void move_rotors(dyn_builder *builder, const char *joint, const double axis[3], const dyn_pose *pose) {
    for (int i = 0; i < builder->machine_element_count; i++) {
        dyn_machine_element_description *e = &builder->machine_elements[i];
        if (e->kind != DYN_MACHINE_ELEMENT_KIND_ROTOR || strcmp(e->joint, joint) != 0) {
            continue;
        }
        double *own = e->rotor.axis, position[3], turned[3];
        bool is_coaxial = own[0] == 0 && own[1] == 0 && own[2] == 0;
        rotation_apply(pose->rotation, is_coaxial ? axis : own, turned);
        rotation_apply(pose->rotation, e->rotor.position, position);
        memcpy(own, turned, sizeof e->rotor.axis);
        for (int k = 0; k < 3; k++) {
            e->rotor.position[k] = position[k] + pose->position[k];
        }
    }
}

bool pose_is_identity(const dyn_pose *pose) {
    bool identity = true;
    for (int i = 0; i < 9; i++) {
        identity = identity && pose->rotation[i] == identity_pose.rotation[i] && pose->position[i % 3] == 0;
    }
    return identity;
}

dyn_status add_joint_with_offset(dyn_builder *builder, const dyn_joint_description *joint, const dyn_pose *offset,
                                 dyn_error *error) {
    if (pose_is_identity(offset)) {
        return dyn_builder_add_joint(builder, joint, error);
    }
    frame_name frame;
    dyn_joint_description to_frame = *joint;
    to_frame.child_link = frame.text;
    dyn_status status = add_joint_frame(builder, joint->name, joint->child_link, offset, error, &frame);
    return status == DYN_OK ? dyn_builder_add_joint(builder, &to_frame, error) : status;
}

/* Returns whether a joint of the description remains because both of its links do. */
static bool stays(const dyn_builder *builder, const bool *retain, int j) {
    const dyn_joint_description *joint = &builder->joints[j];
    return retain[name_index_find(&builder->link_names, joint->parent_link)] &&
           retain[name_index_find(&builder->link_names, joint->child_link)];
}

/* Returns whether the joint of that name exists and remains. */
static bool name_stays(const dyn_builder *builder, const bool *retain, const char *name) {
    int j = name_index_find(&builder->joint_names, name);
    return j >= 0 && stays(builder, retain, j);
}

/* Makes a remaining mimic joint follow its master directly where the joint that it names is removed. Errors:
 * DYN_INVALID_ARGUMENT where the master is removed too. */
static dyn_status retain_master(const dyn_model *model, const dyn_builder *from, const bool *retain,
                                dyn_joint_description *joint, dyn_error *error) {
    if (!joint->mimic_joint || name_stays(from, retain, joint->mimic_joint)) {
        return DYN_OK;
    }
    const dyn_joint *compiled = &model->joints[dyn_model_find_joint(model, joint->name)];
    const char *master = model->joints[compiled->master].name;
    if (!name_stays(from, retain, master)) {
        return builder_fail(from, error, DYN_INVALID_ARGUMENT, joint_element(from, joint->name),
                            "it follows joint \"%s\", which is left out; lock that joint first", master);
    }
    joint->mimic_joint = master;
    joint->mimic_multiplier = compiled->multiplier;
    joint->mimic_offset = compiled->offset;
    return DYN_OK;
}

/* Returns whether an element remains, because its joints and its links do; the world does. */
static bool element_stays(const dyn_builder *builder, const bool *retain, const dyn_machine_element_description *e) {
    int shaft = find_shaft(builder, e);
    if (shaft >= 0) {
        return element_stays(builder, retain, &builder->machine_elements[shaft]);
    }
    bool remains = (!e->link || retain[name_index_find(&builder->link_names, e->link)]) &&
                   (!e->other_link || retain[name_index_find(&builder->link_names, e->other_link)]) &&
                   (e->joint[0] == '\0' || name_stays(builder, retain, e->joint));
    for (int k = 0; k < e->shaft.joint_count; k++) {
        remains = remains && name_stays(builder, retain, e->shaft.joints[k]);
    }
    return remains;
}

/* Copies the machine elements of the joints and links that remain. */
static dyn_status retain_machine_elements(const dyn_builder *from, const bool *retain, dyn_error *error,
                                          dyn_builder *to) {
    dyn_status status = DYN_OK;
    for (int i = 0; status == DYN_OK && i < from->machine_element_count; i++) {
        dyn_machine_element_description element = from->machine_elements[i];
        element.line = 0;
        status = element_stays(from, retain, &element) ? builder_append_machine_element(to, &element, error) : DYN_OK;
    }
    return status;
}

dyn_status prune(const dyn_model *model, const bool *retain, dyn_error *error, dyn_builder **builder) {
    const dyn_builder *from = *builder;
    dyn_builder *pruned;
    dyn_status status = dyn_builder_create(from->name, &pruned, error);
    if (status != DYN_OK) {
        return status;
    }
    memcpy(pruned->gravity, from->gravity, sizeof pruned->gravity);
    for (int i = 0; status == DYN_OK && i < from->link_count; i++) {
        status = retain[i] ? builder_append_link(pruned, &from->links[i], error) : DYN_OK;
    }
    for (int j = 0; status == DYN_OK && j < from->joint_count; j++) {
        if (stays(from, retain, j)) {
            dyn_joint_description joint = from->joints[j];
            status = retain_master(model, from, retain, &joint, error);
            status = status == DYN_OK ? builder_append_joint(pruned, &joint, error) : status;
        }
    }
    if (status == DYN_OK) {
        status = builder_copy_constraints(from, error, pruned);
    }
    if (status == DYN_OK) {
        status = retain_machine_elements(from, retain, error, pruned);
    }
    if (status == DYN_OK) {
        status = builder_copy_contact_surfaces(from, error, pruned);
    }
    if (status == DYN_OK) {
        status = builder_copy_passive(from, error, pruned);
    }
    if (status == DYN_OK) {
        status = builder_copy_notes(from, error, pruned);
    }
    if (status != DYN_OK) {
        dyn_builder_free(pruned);
        return status;
    }
    dyn_builder_free(*builder);
    *builder = pruned;
    return DYN_OK;
}
