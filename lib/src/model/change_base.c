/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Change of the root, which reverses the joints between the old root and the new one; subtrees and chains.
 */
#include <stdlib.h>
#include <string.h>

#include <dynamics/operations.h>

#include "derivation.h"
#include "error.h"
#include "joint_displacement.h"
#include "placement.h"
#include "tree.h"

/* Replaces an axis by its opposite, without negative zeros. */
static void turn_axis(double axis[3]) {
    for (int i = 0; i < 3; i++) {
        axis[i] = 0 - axis[i];
    }
}

/* Reverses the motions of a custom joint: the inverse of their product is that of the opposite ones from the last to
 * the first. */
static void reverse_motions(dyn_joint_motion *motions, int count) {
    for (int k = 0; k < count; k++) {
        turn_axis(motions[k].axis);
    }
    for (int k = 0; k < count / 2; k++) {
        dyn_joint_motion first = motions[k];
        motions[k] = motions[count - 1 - k];
        motions[count - 1 - k] = first;
    }
}

/* Reverses the motion of a joint whose frame is that of both links at q = 0. A planar joint keeps its plane, and has
 * the coordinates of the inverse displacement. */
static void reverse_motion(dyn_joint_description *joint) {
    if (joint->type == DYN_JOINT_TYPE_PLANAR) {
        return;
    }
    if (joint->type == DYN_JOINT_TYPE_CUSTOM) {
        reverse_motions((dyn_joint_motion *)joint->motions, joint->motion_count);
    }
    turn_axis(joint->axis);
    turn_axis(joint->second_axis);
    if (joint->type == DYN_JOINT_TYPE_UNIVERSAL) {
        double first[3];
        memcpy(first, joint->axis, sizeof first);
        memcpy(joint->axis, joint->second_axis, sizeof first);
        memcpy(joint->second_axis, first, sizeof first);
    }
}

static dyn_pose joint_place(const dyn_joint_description *joint) {
    dyn_pose place;
    memcpy(place.position, joint->position, sizeof place.position);
    memcpy(place.rotation, joint->rotation, sizeof place.rotation);
    return place;
}

static void set_joint_place(dyn_joint_description *joint, const dyn_pose *place) {
    memcpy(joint->position, place->position, sizeof joint->position);
    memcpy(joint->rotation, place->rotation, sizeof joint->rotation);
}

/* Moves the rotors of moving joint j, which is to be reversed, to its child link. A coaxial rotor turns relative to
 * that link by G q - q about the axis, which is (1 - G) q about the opposite one. */
static dyn_status reverse_rotors(dyn_builder *builder, int j, dyn_error *error) {
    const dyn_joint_description *joint = &builder->joints[j];
    bool turns = joint->type == DYN_JOINT_TYPE_REVOLUTE || joint->type == DYN_JOINT_TYPE_CONTINUOUS;
    for (int i = 0; i < builder->machine_element_count; i++) {
        dyn_machine_element_description *e = &builder->machine_elements[i];
        const named_element at = {{.kind = DYN_ELEMENT_KIND_MACHINE_ELEMENT, .index = i}, e->name};
        bool is_friction = e->kind == DYN_MACHINE_ELEMENT_KIND_FRICTION;
        bool is_drive = e->kind == DYN_MACHINE_ELEMENT_KIND_MOTOR || e->kind == DYN_MACHINE_ELEMENT_KIND_GEAR ||
                        e->kind == DYN_MACHINE_ELEMENT_KIND_BRAKE;
        if (strcmp(e->joint, joint->name) != 0) {
            continue;
        }
        if (is_friction && e->friction.side == DYN_GEAR_SIDE_ROTOR) {
            return builder_fail(builder, error, DYN_FAILED_PRECONDITION, at,
                                "joint \"%s\" is reversed, and its gear ratio changes; state this friction on the "
                                "side of the joint",
                                e->joint);
        }
        if (is_drive) {
            return builder_fail(
                builder, error, DYN_FAILED_PRECONDITION, at,
                "joint \"%s\" is reversed, and its motor is on the other link; leave out motor, gear and brake",
                e->joint);
        }
        if (e->kind != DYN_MACHINE_ELEMENT_KIND_ROTOR) {
            continue;
        }
        bool is_movable = e->rotor.coupling == DYN_ROTOR_COUPLING_EXACT;
        for (int k = 0; k < 3; k++) {
            is_movable = is_movable && e->rotor.axis[k] == 0 && e->rotor.position[k] == 0;
        }
        if (!turns || !is_movable || e->rotor.ratio == 1) {
            return builder_fail(
                builder, error, DYN_FAILED_PRECONDITION, at,
                "joint \"%s\" is reversed, and the other of its links cannot carry this rotor: that "
                "takes a revolute joint, a rotor at its origin and on its axis with exact coupling, and "
                "a ratio other than one; describe the rotor as a link",
                e->joint);
        }
        e->rotor.ratio = 1 - e->rotor.ratio;
    }
    return DYN_OK;
}

/* Makes the child link of joint j carry its parent link. */
static dyn_status reverse_joint(dyn_builder *builder, int j, dyn_error *error) {
    dyn_pose place = joint_place(&builder->joints[j]), inverse;
    pose_invert(&place, &inverse);
    const char *parent = builder->joints[j].parent_link, *child = builder->joints[j].child_link;
    bool fixed = builder->joints[j].type == DYN_JOINT_TYPE_FIXED;
    if (!fixed && !pose_is_identity(&place)) {
        frame_name frame;
        dyn_status status = add_joint_frame(builder, builder->joints[j].name, parent, &inverse, error, &frame);
        char *between = strdup(frame.text);
        if (status != DYN_OK || !between) {
            free(between);
            return status != DYN_OK ? status : dyn_error_memory(error);
        }
        free((char *)parent);
        parent = between;
    }
    dyn_joint_description *joint = &builder->joints[j]; /* adding may reallocate the joints */
    joint->parent_link = child;
    joint->child_link = parent;
    set_joint_place(joint, fixed ? &inverse : &identity_pose);
    reverse_motion(joint);
    return DYN_OK;
}

/* Makes `link` the root. */
static dyn_status change_root(dyn_builder *builder, int link, dyn_error *error) {
    tree links;
    dyn_status status = tree_find(builder, error, &links);
    while (status == DYN_OK && link != links.root) {
        int carrier = links.parent_joint[link];
        const dyn_joint_description *joint = &builder->joints[carrier];
        if (joint->type == DYN_JOINT_TYPE_FIXED) {
            const double z[3] = {0, 0, 1};
            const dyn_pose place = joint_place(joint);
            move_rotors(builder, joint->name, z, &place);
        } else {
            status = reverse_rotors(builder, carrier, error);
        }
        if (status == DYN_OK) {
            status = reverse_joint(builder, carrier, error);
        }
        link = links.parent_link[carrier];
    }
    tree_clear(&links);
    return status;
}

dyn_status dyn_model_change_base(const dyn_model *model, const char *link, dyn_base base, dyn_model **result,
                                 dyn_error *error) {
    *result = NULL;
    dyn_builder *copy;
    dyn_status status = derivation_begin(model, error, &copy);
    if (status != DYN_OK) {
        return status;
    }
    int root;
    status = description_find_link(copy, "link", link, error, &root);
    if (status == DYN_OK) {
        status = change_root(copy, root, error);
    }
    return derivation_finish(copy, base, status, error, result);
}

/* Marks the links that marked links carry: all of them, or with only_fixed those that fixed joints connect. */
static void mark_carried(const dyn_builder *builder, const tree *links, bool only_fixed, bool *retain) {
    for (int i = 0; i < builder->link_count; i++) {
        int link = links->order[i], carrier = links->parent_joint[link];
        if (carrier >= 0 && retain[links->parent_link[carrier]] &&
            !(only_fixed && builder->joints[carrier].type != DYN_JOINT_TYPE_FIXED)) {
            retain[link] = true;
        }
    }
}

/* Reduces a description to the subtree of the link `first` or, where `last` is not -1, to the chain from `first` to
 * `last`. */
static dyn_status reduce(const dyn_model *model, int first, int last, dyn_error *error, dyn_builder **builder) {
    tree links;
    bool *retain = calloc((size_t)(*builder)->link_count, sizeof *retain);
    dyn_status status = tree_find(*builder, error, &links);
    if (status == DYN_OK && !retain) {
        status = dyn_error_memory(error);
    }
    if (status == DYN_OK) {
        retain[first] = true;
        for (int link = last; link >= 0 && link != first; link = links.parent_link[links.parent_joint[link]]) {
            retain[link] = true;
        }
        mark_carried(*builder, &links, last >= 0, retain);
        status = prune(model, retain, error, builder);
    }
    tree_clear(&links);
    free(retain);
    return status;
}

dyn_status dyn_model_subtree(const dyn_model *model, const char *link, dyn_base base, dyn_model **result,
                             dyn_error *error) {
    *result = NULL;
    dyn_builder *copy;
    dyn_status status = derivation_begin(model, error, &copy);
    if (status != DYN_OK) {
        return status;
    }
    int first;
    status = description_find_link(copy, "link", link, error, &first);
    if (status == DYN_OK) {
        status = reduce(model, first, -1, error, &copy);
    }
    return derivation_finish(copy, base, status, error, result);
}

dyn_status dyn_model_chain(const dyn_model *model, const char *first, const char *last, dyn_base base,
                           dyn_model **result, dyn_error *error) {
    *result = NULL;
    dyn_builder *copy;
    dyn_status status = derivation_begin(model, error, &copy);
    if (status != DYN_OK) {
        return status;
    }
    int from, to;
    status = description_find_link(copy, "first", first, error, &from);
    if (status == DYN_OK) {
        status = description_find_link(copy, "last", last, error, &to);
    }
    if (status == DYN_OK) {
        status = change_root(copy, from, error);
    }
    if (status == DYN_OK) {
        status = reduce(model, from, to, error, &copy);
    }
    return derivation_finish(copy, base, status, error, result);
}
