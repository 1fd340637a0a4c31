/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Configurations q that every model has: zero and home.
 */
#include <dynamics/configuration.h>

#include <string.h>

#include "normal_form.h"

void dyn_zero_configuration(const dyn_model *model, double *q) {
    for (int i = 0; i < model->nq; i++) {
        q[i] = 0;
    }
    for (int j = 0; j < model->joint_count; j++) {
        const dyn_joint *joint = &model->joints[j];
        int quaternion = dyn_joint_type_traits(joint->type)->quaternion;
        if (quaternion >= 0) {
            q[joint->q_index + quaternion + 3] = 1;
        }
    }
}

void dyn_home_configuration(const dyn_model *model, double *q) {
    dyn_zero_configuration(model, q);
    for (int j = 0; j < model->joint_count; j++) {
        const dyn_joint *joint = &model->joints[j];
        bool bounded = joint->has_limits && joint->nq == 1 && joint->type != DYN_JOINT_TYPE_CONTINUOUS &&
                       joint->limits.lower <= joint->limits.upper;
        if (bounded && (joint->limits.lower > 0 || joint->limits.upper < 0)) {
            q[joint->q_index] = joint->limits.lower / 2 + joint->limits.upper / 2;
        }
    }
}
