/* SPDX-License-Identifier: BSD-2-Clause */
#include "joint_properties.h"

#include <math.h>
#include <string.h>

#include "../model/description.h"
#include "../model/error.h"
#include "../model/machine_element.h"
#include "../model/normal_form.h"

joint_losses dyn_joint_losses(const dyn_model *model, const dyn_joint *joint) {
    bool follows = joint->master >= 0;
    double ratio = follows ? joint->multiplier : 1;
    return (joint_losses){.v_index = joint->v_index,
                          .nv = follows ? model->joints[joint->master].nv : joint->nv,
                          .damping = ratio * ratio * joint->damping,
                          .friction = fabs(ratio) * joint->friction};
}

/* Adds the damping and the friction of a joint. */
static void add_resistance(const dyn_model *model, const dyn_joint *joint, joint_properties *p) {
    joint_losses losses = dyn_joint_losses(model, joint);
    for (int k = losses.v_index; k < losses.v_index + losses.nv; k++) {
        p->damping[k] += losses.damping;
        p->friction[k] += losses.friction;
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

int dyn_machine_elements(const dyn_model *model) {
    return model->description->machine_element_count;
}

/* Returns the first element of a kind at a joint, or NULL. */
static const dyn_machine_element_description *element_at(const dyn_model *model, const char *joint,
                                                         dyn_machine_element_kind kind) {
    const dyn_builder *description = model->description;
    for (int i = 0; i < description->machine_element_count; i++) {
        const dyn_machine_element_description *e = &description->machine_elements[i];
        if (e->kind == kind && strcmp(e->joint, joint) == 0) {
            return e;
        }
    }
    return NULL;
}

/* Returns the rate of the motor of a joint over that of the joint: that of its rotor, else that of its gear. */
static double motor_ratio(const dyn_model *model, const char *joint) {
    const dyn_machine_element_description *rotor = element_at(model, joint, DYN_MACHINE_ELEMENT_KIND_ROTOR);
    const dyn_machine_element_description *gear = element_at(model, joint, DYN_MACHINE_ELEMENT_KIND_GEAR);
    double stated = gear && gear->gear.ratio != 0 ? gear->gear.ratio : 1;
    return rotor ? rotor->rotor.ratio : stated;
}

/* Returns a law on the rate G v as the law on v with the same power. */
static friction_law reflect_friction(const dyn_friction *f, double G, int v_index) {
    friction_law law = {.v_index = v_index,
                        .stribeck_velocity = f->stribeck_velocity > 0 ? f->stribeck_velocity / fabs(G) : 1,
                        .transition_velocity = f->transition_velocity / fabs(G)};
    for (int i = 0; i < 2; i++) {
        int from = G < 0 ? 1 - i : i;
        law.viscous[i] = G * G * f->viscous[from] * (f->temperature_factor > 0 ? f->temperature_factor : 1);
        law.coulomb[i] = fabs(G) * f->coulomb[from];
        law.excess[i] = fabs(G) * fmax(0, f->breakaway[from] - f->coulomb[from]);
    }
    return law;
}

const dyn_joint *dyn_moving_joint(const dyn_model *model, const dyn_machine_element_description *e, double *ratio) {
    const dyn_joint *joint = dyn_model_joint(model, dyn_model_find_joint(model, e->joint));
    *ratio = joint && joint->master >= 0 ? joint->multiplier : 1;
    return *ratio != 0 ? joint : NULL;
}

/* Returns the ratio of the rate at which a friction law holds to the rate of its joint. */
static double side_ratio(const dyn_model *model, const dyn_machine_element_description *e) {
    return e->friction.side == DYN_GEAR_SIDE_ROTOR ? motor_ratio(model, e->joint) : 1;
}

bool dyn_element_friction(const dyn_model *model, int element, friction_law *law) {
    const dyn_machine_element_description *e = &model->description->machine_elements[element];
    double ratio;
    const dyn_joint *joint = dyn_moving_joint(model, e, &ratio);
    if (!joint || e->kind != DYN_MACHINE_ELEMENT_KIND_FRICTION) {
        return false;
    }
    *law = reflect_friction(&e->friction, side_ratio(model, e) * ratio, joint->v_index);
    return true;
}

bool dyn_element_bristles(const dyn_model *model, int element, bristle_law *bristles) {
    const dyn_machine_element_description *e = &model->description->machine_elements[element];
    double ratio;
    double G = 1;
    if (e->kind != DYN_MACHINE_ELEMENT_KIND_FRICTION || e->friction.bristle_stiffness == 0) {
        return false;
    }
    bristles->element = element;
    bristles->shaft = find_shaft(model->description, e);
    if (dyn_element_on_shaft(model, element, &bristles->at, &bristles->law)) {
        bristles->law_index = -1;
    } else if (dyn_element_friction(model, element, &bristles->law)) {
        bristles->law_index = 0;
        bristles->at = (shaft_rates){1, {bristles->law.v_index}, {1}};
        dyn_moving_joint(model, e, &ratio);
        G = side_ratio(model, e) * ratio;
    } else {
        return false;
    }
    bristles->stiffness = G * G * e->friction.bristle_stiffness;
    bristles->damping = G * G * e->friction.bristle_damping;
    return true;
}

int dyn_model_bristle_count(const dyn_model *model) {
    int count = 0;
    for (int i = 0; i < model->description->machine_element_count; i++) {
        bristle_law found;
        count += dyn_element_bristles(model, i, &found);
    }
    return count;
}

bool dyn_element_spring(const dyn_model *model, int element, spring_law *spring) {
    const dyn_machine_element_description *e = &model->description->machine_elements[element];
    double ratio;
    const dyn_joint *joint = dyn_moving_joint(model, e, &ratio);
    if (!joint || e->kind != DYN_MACHINE_ELEMENT_KIND_SPRING) {
        return false;
    }
    *spring = (spring_law){joint->q_index, joint->v_index, ratio * ratio * e->spring.stiffness,
                           (e->spring.rest - joint->offset) / ratio};
    return true;
}

bool dyn_element_brake(const dyn_model *model, int element, friction_law *law) {
    const dyn_machine_element_description *e = &model->description->machine_elements[element];
    double ratio;
    const dyn_joint *joint = dyn_moving_joint(model, e, &ratio);
    if (!joint || e->kind != DYN_MACHINE_ELEMENT_KIND_BRAKE) {
        return false;
    }
    const dyn_friction held = {.coulomb = {e->brake.torque, e->brake.torque}};
    *law = reflect_friction(&held, motor_ratio(model, e->joint) * ratio, joint->v_index);
    return true;
}

/* Adds the rate of a shaft over that of a coordinate. */
static void add_rate(int coordinate, double rate, shaft_rates *to) {
    int k = 0;
    while (k < to->count && to->coordinates[k] != coordinate) {
        k++;
    }
    if (k == to->count) {
        to->coordinates[to->count++] = coordinate;
    }
    to->rates[k] += rate;
}

bool dyn_shaft_rates(const dyn_model *model, const dyn_shaft *shaft, shaft_rates *found) {
    *found = (shaft_rates){0};
    for (int k = 0; k < shaft->joint_count; k++) {
        const dyn_joint *joint = dyn_model_joint(model, dyn_model_find_joint(model, shaft->joints[k]));
        double multiplier = joint && joint->master >= 0 ? joint->multiplier : 1;
        if (joint && multiplier != 0) {
            add_rate(joint->v_index, shaft->ratios[k] * multiplier, found);
        }
    }
    return found->count > 0;
}

bool dyn_element_on_shaft(const dyn_model *model, int element, shaft_rates *shaft, friction_law *law) {
    const dyn_machine_element_description *all = model->description->machine_elements, *e = &all[element];
    int at = find_shaft(model->description, e);
    if (at < 0 || e->kind == DYN_MACHINE_ELEMENT_KIND_GEAR || !dyn_shaft_rates(model, &all[at].shaft, shaft)) {
        return false;
    }
    const dyn_friction held = {.coulomb = {e->brake.torque, e->brake.torque}};
    *law = reflect_friction(e->kind == DYN_MACHINE_ELEMENT_KIND_BRAKE ? &held : &e->friction, 1, -1);
    return true;
}

double dyn_shaft_speed(const shaft_rates *shaft, const double *v) {
    double speed = 0;
    for (int k = 0; k < shaft->count; k++) {
        speed += shaft->rates[k] * v[shaft->coordinates[k]];
    }
    return speed;
}

int dyn_shaft_elements(const dyn_model *model) {
    int count = 0;
    for (int i = 0; i < model->description->machine_element_count; i++) {
        const dyn_machine_element_description *e = &model->description->machine_elements[i];
        count += e->kind != DYN_MACHINE_ELEMENT_KIND_GEAR && find_shaft(model->description, e) >= 0;
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
    p->law_count = p->spring_count = p->bristle_count = 0;
    for (int i = 0; i < model->description->machine_element_count; i++) {
        bristle_law *bristles = &p->bristles[p->bristle_count];
        if (dyn_element_bristles(model, i, bristles)) {
            bristles->law_index = bristles->law_index < 0 ? -1 : p->law_count;
            p->bristle_count++;
        }
        p->law_count += dyn_element_friction(model, i, &p->laws[p->law_count]);
        p->spring_count += dyn_element_spring(model, i, &p->springs[p->spring_count]);
    }
}
