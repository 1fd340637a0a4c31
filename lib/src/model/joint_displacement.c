/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Displacement of a joint's child link: computed in the frame whose z is the joint's axis, then turned back.
 */
#include "joint_displacement.h"

#include <math.h>
#include <string.h>

#include <dynamics/kinematics.h>

#include "joint_function.h"
#include "placement.h"

void pose_invert(const dyn_pose *pose, dyn_pose *out) {
    rotation_transpose(pose->rotation, out->rotation);
    rotation_apply(out->rotation, pose->position, out->position);
    for (int i = 0; i < 3; i++) {
        out->position[i] = 0 - out->position[i];
    }
}

/* Returns a turn about z with a shift. */
static dyn_pose about_z(double angle, double x, double y, double z) {
    double c = cos(angle), s = sin(angle);
    return (dyn_pose){.position = {x, y, z}, .rotation = {c, -s, 0, s, c, 0, 0, 0, 1}};
}

/* Transforms a displacement along z to one along the axis. */
static dyn_pose about_axis(const double axis[3], const dyn_pose *along_z) {
    dyn_pose turned, back = identity_pose, forth = identity_pose, out;
    rotation_from_z(axis, forth.rotation);
    rotation_transpose(forth.rotation, back.rotation);
    pose_compose(&forth, along_z, &turned);
    pose_compose(&turned, &back, &out);
    return out;
}

static dyn_pose free_rotation(const double quaternion[4]) {
    dyn_pose out = identity_pose;
    dyn_quaternion_to_rotation(quaternion, out.rotation);
    return out;
}

dyn_pose motion_displacement(const dyn_joint_motion *motion, double value) {
    bool turns = motion->kind == DYN_JOINT_MOTION_KIND_ROTATION;
    dyn_pose along_z = about_z(turns ? value : 0, 0, 0, turns ? 0 : value);
    return about_axis(motion->axis, &along_z);
}

/* Returns the product of the motions of a custom joint. */
static dyn_pose custom_displacement(const dyn_joint *joint, double q) {
    dyn_pose all = identity_pose;
    for (int k = 0; k < joint->motion_count; k++) {
        const dyn_joint_motion *m = &joint->motions[k];
        double f[4];
        dyn_joint_function_at(&m->function, q, f);
        dyn_pose step = motion_displacement(m, f[0]), before = all;
        pose_compose(&before, &step, &all);
    }
    return all;
}

dyn_pose joint_displacement(const dyn_joint *joint, const double *q) {
    dyn_pose first, second, both;
    switch (joint->type) {
    case DYN_JOINT_TYPE_FIXED:
        return identity_pose;
    case DYN_JOINT_TYPE_REVOLUTE:
    case DYN_JOINT_TYPE_CONTINUOUS:
        first = about_z(q[0], 0, 0, 0);
        break;
    case DYN_JOINT_TYPE_PRISMATIC:
        first = about_z(0, 0, 0, q[0]);
        break;
    case DYN_JOINT_TYPE_HELICAL:
        first = about_z(q[0], 0, 0, joint->pitch * q[0]);
        break;
    case DYN_JOINT_TYPE_CYLINDRICAL:
        first = about_z(q[0], 0, 0, q[1]);
        break;
    case DYN_JOINT_TYPE_PLANAR:
        first = about_z(q[2], q[0], q[1], 0);
        break;
    case DYN_JOINT_TYPE_UNIVERSAL:
        first = about_z(q[0], 0, 0, 0);
        second = about_z(q[1], 0, 0, 0);
        first = about_axis(joint->axis, &first);
        second = about_axis(joint->second_axis, &second);
        pose_compose(&first, &second, &both);
        return both;
    case DYN_JOINT_TYPE_CUSTOM:
        return custom_displacement(joint, q[0]);
    case DYN_JOINT_TYPE_SPHERICAL:
        return free_rotation(q);
    case DYN_JOINT_TYPE_FLOATING:
        first = free_rotation(q + 3);
        memcpy(first.position, q, sizeof first.position);
        return first;
    }
    return about_axis(joint->axis, &first);
}
