/* SPDX-License-Identifier: BSD-2-Clause */
#include "joint_properties.h"

#include <math.h>

#include "../model/normal_form.h"

/* Adds the damping b and the friction f of a joint. A mimic joint with the ratio r adds r^2 b and |r| f to those of its
 * master. */
static void add_resistance(const dyn_model *model, const dyn_joint *joint, joint_properties *p) {
    bool follows = joint->master >= 0;
    double ratio = follows ? joint->multiplier : 1;
    int count = follows ? model->joints[joint->master].nv : joint->nv;
    for (int k = joint->v_index; k < joint->v_index + count; k++) {
        p->damping[k] += ratio * ratio * joint->damping;
        p->friction[k] += fabs(ratio) * joint->friction;
        p->has_damping |= p->damping[k] != 0;
        p->has_friction |= p->friction[k] != 0;
    }
}

/* Finds the range that the limits of a joint impose on its coordinate or, for a mimic joint, on the coordinate of its
 * master. Returns false if there is none. */
static bool find_range(const dyn_model *model, int j, joint_range *range) {
    const dyn_joint *joint = &model->joints[j];
    if (!dyn_joint_type_traits(joint->type)->has_range || !joint->has_limits ||
        !(joint->limits.lower < joint->limits.upper)) {
        return false;
    }
    *range = (joint_range){j, joint->q_index, joint->v_index, joint->limits.lower, joint->limits.upper};
    if (joint->master >= 0) {
        double a = (range->lower - joint->offset) / joint->multiplier;
        double b = (range->upper - joint->offset) / joint->multiplier;
        range->lower = fmin(a, b), range->upper = fmax(a, b);
    }
    return joint->master < 0 || joint->multiplier != 0;
}

/* Adds a range to those of p. If the coordinate has a range already, narrows it, unless it would become empty. */
static void add_range(const joint_range *range, joint_properties *p) {
    int i = 0;
    while (i < p->range_count && p->ranges[i].v_index != range->v_index) {
        i++;
    }
    if (i == p->range_count) {
        p->ranges[p->range_count++] = *range;
        return;
    }
    double lower = fmax(p->ranges[i].lower, range->lower), upper = fmin(p->ranges[i].upper, range->upper);
    if (lower < upper) {
        p->ranges[i].lower = lower, p->ranges[i].upper = upper;
    }
}

int dyn_joint_ranges(const dyn_model *model) {
    int count = 0;
    for (int j = 0; j < model->joint_count; j++) {
        joint_range range;
        count += find_range(model, j, &range);
    }
    return count;
}

void dyn_joint_properties(const dyn_model *model, joint_properties *p) {
    for (int k = 0; k < model->nv; k++) {
        p->damping[k] = p->friction[k] = 0;
        p->effort[k] = INFINITY;
    }
    p->has_damping = p->has_friction = false;
    p->range_count = 0;
    for (int j = 0; j < model->joint_count; j++) {
        const dyn_joint *joint = &model->joints[j];
        joint_range range;
        add_resistance(model, joint, p);
        if (joint->nv == 1 && joint->has_limits && joint->limits.effort > 0) {
            p->effort[joint->v_index] = joint->limits.effort;
        }
        if (find_range(model, j, &range)) {
            add_range(&range, p);
        }
    }
}
