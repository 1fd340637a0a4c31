/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Joint types and their traits: one table that the library, the daemon and the model compiler read.
 *
 *     type         nq  q                                nv  v
 *     fixed         0                                    0
 *     revolute      1  angle about the axis              1  its rate
 *     continuous    1  angle about the axis              1  its rate
 *     prismatic     1  displacement along the axis       1  its rate
 *     helical       1  angle; advances pitch * angle     1  its rate
 *     cylindrical   2  angle, displacement               2  their rates
 *     universal     2  angles about first, second axis   2  their rates
 *     planar        3  x, y in the plane, then angle     3  linear x, y, then angular velocity, in moved axes
 *     spherical     4  quaternion                        3  angular velocity in the child link's axes
 *     floating      7  position, then quaternion         6  linear, then angular velocity in the child link's axes
 *     custom        1  angle that its motions depend on  1  its rate
 *
 *   planar      the plane is normal to the axis; its x and y directions are those of the joint frame after the shortest
 *               rotation that turns z into the axis.
 *   custom      rotates and translates by given functions of its coordinate (custom_joint.h).
 */
#ifndef DYNAMICS_JOINT_TYPE_H
#define DYNAMICS_JOINT_TYPE_H

#include <stdbool.h>

#include <dynamics/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Types of joints. The values are indices of the table of traits. */
typedef enum dyn_joint_type {
    DYN_JOINT_TYPE_FIXED,
    DYN_JOINT_TYPE_REVOLUTE,
    DYN_JOINT_TYPE_CONTINUOUS,
    DYN_JOINT_TYPE_PRISMATIC,
    DYN_JOINT_TYPE_HELICAL,
    DYN_JOINT_TYPE_CYLINDRICAL,
    DYN_JOINT_TYPE_UNIVERSAL,
    DYN_JOINT_TYPE_PLANAR,
    DYN_JOINT_TYPE_SPHERICAL,
    DYN_JOINT_TYPE_FLOATING,
    DYN_JOINT_TYPE_CUSTOM,
} dyn_joint_type;

/* Number of joint types, and the largest nq and nv of one joint. */
enum { DYN_JOINT_TYPE_COUNT = DYN_JOINT_TYPE_CUSTOM + 1, DYN_MAX_JOINT_NQ = 7, DYN_MAX_JOINT_NV = 6 };

/* Kind of a coordinate or of a velocity. Units follow from it: m, m/s and N for a length; rad, rad/s and N m for an
 * angle; 1 for a component of a quaternion. */
typedef enum dyn_coordinate_kind {
    DYN_COORDINATE_KIND_LENGTH,
    DYN_COORDINATE_KIND_ANGLE,
    DYN_COORDINATE_KIND_QUATERNION,
} dyn_coordinate_kind;

/* Traits of a joint type. */
typedef struct dyn_joint_traits {
    const char *name; /* as in descriptions: "revolute" */
    int nq, nv;
    int axes;       /* axes that a description states: 0, 1, or 2 for universal */
    int quaternion; /* index of the quaternion's x in the joint's q, or -1 */
    bool has_range; /* limits.lower and limits.upper bound the coordinate */
    bool is_flat;   /* the sum q + v is q (+) v (configuration_space.h): no coordinate turns another */
    bool in_urdf;   /* URDF can describe it */
    dyn_coordinate_kind q_kinds[DYN_MAX_JOINT_NQ];
    dyn_coordinate_kind v_kinds[DYN_MAX_JOINT_NV];
} dyn_joint_traits;

/* Returns the traits of a joint type, or NULL for a number that is no joint type. The result is constant and lives as
 * long as the program. Thread-safe. */
DYN_API const dyn_joint_traits *dyn_joint_type_traits(dyn_joint_type type);

#ifdef __cplusplus
}
#endif

#endif
