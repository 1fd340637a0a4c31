/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of joint types.
 */
#include <dynamics/joint_type.h>

#include <stddef.h>

/* Kinds of coordinates, abbreviated so that each type is one row. */
#define L DYN_COORDINATE_KIND_LENGTH
#define A DYN_COORDINATE_KIND_ANGLE
#define Q DYN_COORDINATE_KIND_QUATERNION

/* Columns: name, nq, nv, axes, quaternion, has_range, is_flat, in_urdf, q_kinds, v_kinds. */
static const dyn_joint_traits joint_traits[DYN_JOINT_TYPE_COUNT] = {
    [DYN_JOINT_TYPE_FIXED] = {"fixed", 0, 0, 0, -1, false, true, true, {0}, {0}},
    [DYN_JOINT_TYPE_REVOLUTE] = {"revolute", 1, 1, 1, -1, true, true, true, {A}, {A}},
    [DYN_JOINT_TYPE_CONTINUOUS] = {"continuous", 1, 1, 1, -1, false, true, true, {A}, {A}},
    [DYN_JOINT_TYPE_PRISMATIC] = {"prismatic", 1, 1, 1, -1, true, true, true, {L}, {L}},
    [DYN_JOINT_TYPE_HELICAL] = {"helical", 1, 1, 1, -1, true, true, false, {A}, {A}},
    [DYN_JOINT_TYPE_CYLINDRICAL] = {"cylindrical", 2, 2, 1, -1, false, true, false, {A, L}, {A, L}},
    [DYN_JOINT_TYPE_UNIVERSAL] = {"universal", 2, 2, 2, -1, false, true, false, {A, A}, {A, A}},
    [DYN_JOINT_TYPE_PLANAR] = {"planar", 3, 3, 1, -1, false, false, true, {L, L, A}, {L, L, A}},
    [DYN_JOINT_TYPE_SPHERICAL] = {"spherical", 4, 3, 0, 0, false, false, false, {Q, Q, Q, Q}, {A, A, A}},
    [DYN_JOINT_TYPE_FLOATING] = {"floating", 7, 6, 0, 3, false, false, true, {L, L, L, Q, Q, Q, Q}, {L, L, L, A, A, A}},
    [DYN_JOINT_TYPE_CUSTOM] = {"custom", 1, 1, 0, -1, true, true, false, {A}, {A}},
};

const dyn_joint_traits *dyn_joint_type_traits(dyn_joint_type type) {
    return (unsigned)type < DYN_JOINT_TYPE_COUNT ? &joint_traits[type] : NULL;
}
