/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Properties of joints beside their motion, by coordinate: damping, friction, effort
 * and position limits. Coupled mimic joints act on their master.
 */
#ifndef DYNAMICS_ACTUATION_JOINT_PROPERTIES_H
#define DYNAMICS_ACTUATION_JOINT_PROPERTIES_H

#include <stdbool.h>

#include <dynamics/model.h>

/* The range of a coordinate, and the joint that states it. */
typedef struct joint_range {
    int joint, q_index, v_index;
    double lower, upper;
} joint_range;

/* Memory of the caller's: nv doubles each, and as many ranges as there are joints. */
typedef struct joint_properties {
    double *damping, *friction;
    double *effort; /* infinite where it is not stated */
    joint_range *ranges;
    int range_count;
    bool has_damping, has_friction;
} joint_properties;

/* Fills all arrays. */
void dyn_joint_properties(const dyn_model *model, joint_properties *properties);

#endif
