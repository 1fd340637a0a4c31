/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Locking of joints: each becomes a fixed joint at its current place.
 */
#include <math.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include <dynamics/configuration.h>
#include <dynamics/operations.h>

#include "derivation.h"
#include "error.h"
#include "joint_displacement.h"
#include "placement.h"

/* Sets joint k of those to be locked as the site of an error. Returns `status`. */
static dyn_status fail_for_name(dyn_error *error, dyn_status status, size_t k) {
    if (error) {
        error->site.argument = "joints";
        error->site.has_item = true;
        error->site.item = k;
    }
    return status;
}

/* Marks the named joints and the mimic joints that follow them. */
static dyn_status mark_locked(const dyn_model *model, size_t count, const char *const *names, dyn_error *error,
                              bool *locked) {
    const dyn_builder *description = model->description;
    for (size_t k = 0; k < count; k++) {
        int j = names[k] ? dyn_model_find_joint(model, names[k]) : -1;
        if (j < 0) {
            dyn_status status = builder_fail(description, error, DYN_NOT_FOUND, joint_element(description, names[k]),
                                             "robot %s has no moving joint of this name", model->name);
            return fail_for_name(error, status, k);
        }
        locked[j] = true;
    }
    for (size_t k = 0; k < count; k++) {
        int j = dyn_model_find_joint(model, names[k]), master = model->joints[j].master;
        if (master >= 0 && !locked[master]) {
            dyn_status status =
                builder_fail(description, error, DYN_INVALID_ARGUMENT, joint_element(description, names[k]),
                             "it follows joint \"%s\"; lock that one", model->joints[master].name);
            return fail_for_name(error, status, k);
        }
    }
    for (int j = 0; j < model->joint_count; j++) {
        int master = model->joints[j].master;
        locked[j] = master >= 0 ? locked[master] : locked[j];
    }
    return DYN_OK;
}

/* Checks the coordinates of a joint to be locked. */
static dyn_status check_coordinates(const dyn_joint *joint, const double *q, dyn_error *error) {
    for (int k = joint->q_index; k < joint->q_index + joint->nq; k++) {
        if (!isfinite(q[k])) {
            const dyn_error_site site = {
                .cause = DYN_CAUSE_NOT_FINITE, .argument = "q", .has_index = true, .index = (size_t)k};
            return dyn_error_at(error, DYN_INVALID_ARGUMENT, &site, "joint %s: the value is %g; pass a finite number",
                                joint->name, q[k]);
        }
    }
    int quaternion = dyn_joint_type_traits(joint->type)->quaternion;
    if (quaternion < 0) {
        return DYN_OK;
    }
    int first = joint->q_index + quaternion;
    const double *x = q + first;
    double norm = sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2] + x[3] * x[3]);
    if (!(fabs(norm - 1) <= 1e-3)) {
        const dyn_error_site site = {
            .cause = DYN_CAUSE_NOT_UNIT, .argument = "q", .has_index = true, .index = (size_t)first};
        return dyn_error_at(error, DYN_INVALID_ARGUMENT, &site,
                            "joint %s: the quaternion (x y z w) that begins here has norm %g; make it 1", joint->name,
                            norm);
    }
    return DYN_OK;
}

/* Returns the pose of a joint's child link in its parent link at the configuration q. */
static dyn_pose place_at(const dyn_joint *joint, const double *q) {
    double own[7];
    if (joint->master >= 0) {
        own[0] = joint->multiplier * q[joint->q_index] + joint->offset;
    } else {
        memcpy(own, q + joint->q_index, (size_t)joint->nq * sizeof *own);
    }
    dyn_pose displacement = joint_displacement(joint, own), place;
    pose_compose(&joint->origin, &displacement, &place);
    return place;
}

/* Turns a described joint into a fixed one. */
static void fix_joint(dyn_joint_description *joint, const dyn_pose *place) {
    free((char *)joint->mimic_joint);
    free((dyn_joint_motion *)joint->motions);
    const dyn_joint_description moving = *joint;
    *joint = (dyn_joint_description){.name = moving.name,
                                     .type = DYN_JOINT_TYPE_FIXED,
                                     .parent_link = moving.parent_link,
                                     .child_link = moving.child_link};
    memcpy(joint->position, place->position, sizeof joint->position);
    memcpy(joint->rotation, place->rotation, sizeof joint->rotation);
}

/* Attaches the root of a floating base to a link "world". */
static dyn_status fix_base(dyn_builder *builder, const dyn_model *model, const dyn_pose *place, dyn_error *error) {
    const dyn_link_description world = {.name = "world"};
    dyn_status status = dyn_builder_add_link(builder, &world, error);
    const dyn_joint *root = &model->joints[0];
    return status == DYN_OK ? add_fixed_joint(builder, root->name, "world", model->links[0].name, place, error)
                            : status;
}

/* Fixes every marked joint. */
static dyn_status fix_joints(dyn_builder *builder, const dyn_model *model, const bool *locked, const double *q,
                             dyn_error *error) {
    dyn_status status = DYN_OK;
    for (int j = 0; status == DYN_OK && j < model->joint_count; j++) {
        const dyn_joint *joint = &model->joints[j];
        if (!locked[j]) {
            continue;
        }
        status = check_coordinates(joint, q, error);
        if (status != DYN_OK) {
            return status;
        }
        dyn_pose place = place_at(joint, q);
        if (joint->parent_link < 0) {
            status = fix_base(builder, model, &place, error);
        } else {
            /* Rotors remain where they are in the parent link. */
            dyn_pose back, moved;
            pose_invert(&place, &back);
            pose_compose(&back, &joint->origin, &moved);
            move_rotors(builder, joint->name, joint->axis, &moved);
            fix_joint(&builder->joints[name_index_find(&builder->joint_names, joint->name)], &place);
        }
    }
    return status;
}

dyn_status dyn_model_lock(const dyn_model *model, size_t count, const char *const *joints, const double *q,
                          dyn_model **result, dyn_error *error) {
    *result = NULL;
    dyn_builder *copy;
    dyn_status status = derivation_begin(model, error, &copy);
    if (status != DYN_OK) {
        return status;
    }
    dyn_base base = model_base(model);
    bool *locked = calloc((size_t)model->joint_count + 1, sizeof *locked);
    double *zero = calloc((size_t)model->nq + 1, sizeof *zero);
    status = locked && zero ? mark_locked(model, count, joints, error, locked) : dyn_error_memory(error);
    if (status == DYN_OK) {
        dyn_zero_configuration(model, zero);
        base = model->floating && locked[0] ? DYN_BASE_FIXED : base;
        status = fix_joints(copy, model, locked, q ? q : zero, error);
    }
    free(locked);
    free(zero);
    return derivation_finish(copy, base, status, error, result);
}
