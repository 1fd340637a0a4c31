/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of joint types.
 */
#include <dynamics/joint_type.h>

#include <stddef.h>

#define LENGTH DYN_COORDINATE_LENGTH
#define ANGLE DYN_COORDINATE_ANGLE
#define QUATERNION DYN_COORDINATE_QUATERNION

static const dyn_joint_traits joint_traits[DYN_JOINT_TYPES] = {
    [DYN_JOINT_FIXED] = {.name = "fixed", .quaternion = -1, .is_flat = true, .in_urdf = true},
    [DYN_JOINT_REVOLUTE] = {.name = "revolute",
                            .nq = 1,
                            .nv = 1,
                            .axes = 1,
                            .quaternion = -1,
                            .has_range = true,
                            .is_flat = true,
                            .in_urdf = true,
                            .q_kinds = {ANGLE},
                            .v_kinds = {ANGLE}},
    [DYN_JOINT_CONTINUOUS] = {.name = "continuous",
                              .nq = 1,
                              .nv = 1,
                              .axes = 1,
                              .quaternion = -1,
                              .is_flat = true,
                              .in_urdf = true,
                              .q_kinds = {ANGLE},
                              .v_kinds = {ANGLE}},
    [DYN_JOINT_PRISMATIC] = {.name = "prismatic",
                             .nq = 1,
                             .nv = 1,
                             .axes = 1,
                             .quaternion = -1,
                             .has_range = true,
                             .is_flat = true,
                             .in_urdf = true,
                             .q_kinds = {LENGTH},
                             .v_kinds = {LENGTH}},
    [DYN_JOINT_HELICAL] = {.name = "helical",
                           .nq = 1,
                           .nv = 1,
                           .axes = 1,
                           .quaternion = -1,
                           .has_range = true,
                           .is_flat = true,
                           .q_kinds = {ANGLE},
                           .v_kinds = {ANGLE}},
    [DYN_JOINT_CYLINDRICAL] = {.name = "cylindrical",
                               .nq = 2,
                               .nv = 2,
                               .axes = 1,
                               .quaternion = -1,
                               .is_flat = true,
                               .q_kinds = {ANGLE, LENGTH},
                               .v_kinds = {ANGLE, LENGTH}},
    [DYN_JOINT_UNIVERSAL] = {.name = "universal",
                             .nq = 2,
                             .nv = 2,
                             .axes = 2,
                             .quaternion = -1,
                             .is_flat = true,
                             .q_kinds = {ANGLE, ANGLE},
                             .v_kinds = {ANGLE, ANGLE}},
    [DYN_JOINT_PLANAR] = {.name = "planar",
                          .nq = 3,
                          .nv = 3,
                          .axes = 1,
                          .quaternion = -1,
                          .in_urdf = true,
                          .q_kinds = {LENGTH, LENGTH, ANGLE},
                          .v_kinds = {LENGTH, LENGTH, ANGLE}},
    [DYN_JOINT_SPHERICAL] = {.name = "spherical",
                             .nq = 4,
                             .nv = 3,
                             .quaternion = 0,
                             .q_kinds = {QUATERNION, QUATERNION, QUATERNION, QUATERNION},
                             .v_kinds = {ANGLE, ANGLE, ANGLE}},
    [DYN_JOINT_FLOATING] = {.name = "floating",
                            .nq = 7,
                            .nv = 6,
                            .quaternion = 3,
                            .in_urdf = true,
                            .q_kinds = {LENGTH, LENGTH, LENGTH, QUATERNION, QUATERNION, QUATERNION, QUATERNION},
                            .v_kinds = {LENGTH, LENGTH, LENGTH, ANGLE, ANGLE, ANGLE}},
};

const dyn_joint_traits *dyn_joint_type_traits(dyn_joint_type type) {
    return (unsigned)type < DYN_JOINT_TYPES ? &joint_traits[type] : NULL;
}
