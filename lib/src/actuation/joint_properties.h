/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Properties of joints by coordinate: damping, friction, effort and position limits. Properties of
 * coupled mimic joints apply to their master.
 */
#ifndef DYNAMICS_ACTUATION_JOINT_PROPERTIES_H
#define DYNAMICS_ACTUATION_JOINT_PROPERTIES_H

#include <stdbool.h>

#include <dynamics/model.h>

/* Range of a coordinate, and the joint that states it. */
typedef struct joint_range {
    int joint, q_index, v_index;
    double lower, upper;
} joint_range;

/* Arrays owned by the caller: nv doubles each, and dyn_joint_ranges(model) ranges. */
typedef struct joint_properties {
    double *damping, *friction;
    double *effort; /* infinite where it is not stated */
    joint_range *ranges;
    int range_count;
    bool has_damping, has_friction;
} joint_properties;

/* Returns the number of joints with a range, an upper bound of range_count: a mimic joint and its master share one. */
int dyn_joint_ranges(const dyn_model *model);

/* Fills all arrays. */
void dyn_joint_properties(const dyn_model *model, joint_properties *properties);

#endif
