/* SPDX-License-Identifier: BSD-2-Clause */
#include "gear_law.h"

#include <math.h>

#include "../model/description.h"
#include "../model/error.h"
#include "../model/machine_element.h"
#include "../model/normal_form.h"

/* Loss of a self-locking gear over its load: more than one, so that it holds near the friction velocity. */
static const double SELF_LOCKING = 1.25;

/* Finds the losses of a gear, and its shaft or the coordinate of its joint, without the shares of a shaft. Returns
 * false as dyn_element_gear does. */
static bool find_losses(const dyn_model *model, int element, gear_law *gear) {
    const dyn_machine_element_description *all = model->description->machine_elements, *e = &all[element];
    double ratio, back = e->gear.back_driving_efficiency;
    shaft_rates unused;
    if (e->kind != DYN_MACHINE_ELEMENT_KIND_GEAR) {
        return false;
    }
    *gear = (gear_law){.shaft = find_shaft(model->description, e),
                       .driving = 1 / e->gear.efficiency - 1,
                       .back_driving = back > 0 ? 1 - back : SELF_LOCKING};
    if (gear->shaft >= 0) {
        return dyn_shaft_rates(model, &all[gear->shaft].shaft, &unused) &&
               (gear->driving > 0 || gear->back_driving > 0);
    }
    const dyn_joint *joint = dyn_moving_joint(model, e, &ratio);
    gear->load = (shaft_load){{1, {joint ? joint->v_index : -1}, {1}}, {1}};
    return joint && (gear->driving > 0 || gear->back_driving > 0);
}

bool dyn_element_gear(const dyn_model *model, int element, gear_law *gear) {
    dyn_error unused;
    if (!find_losses(model, element, gear)) {
        return false;
    }
    if (gear->shaft >= 0) {
        dyn_shaft_load(model, gear->shaft, &gear->load, &unused);
    }
    return true;
}

int dyn_lossy_gears(const dyn_model *model) {
    int count = 0;
    for (int i = 0; i < model->description->machine_element_count; i++) {
        gear_law found;
        count += find_losses(model, i, &found);
    }
    return count;
}

/* Returns whether two gears, of which one is of a joint, move the same coordinate. */
static bool share_coordinate(const gear_law *a, const gear_law *b) {
    for (int i = 0; (a->shaft < 0 || b->shaft < 0) && i < a->load.at.count; i++) {
        for (int k = 0; k < b->load.at.count; k++) {
            if (a->load.at.coordinates[i] == b->load.at.coordinates[k]) {
                return true;
            }
        }
    }
    return false;
}

dyn_status dyn_check_gears(const dyn_model *model, const char *place, dyn_error *error) {
    const dyn_machine_element_description *e = model->description->machine_elements;
    for (int i = 0; i < model->description->machine_element_count; i++) {
        gear_law gear, other;
        dyn_error reason;
        if (!dyn_element_gear(model, i, &gear)) {
            continue;
        }
        if (gear.shaft >= 0 && dyn_shaft_load(model, gear.shaft, &gear.load, &reason) != DYN_OK) {
            return dyn_error_set(error, DYN_FAILED_PRECONDITION, place,
                                 "the load of gear \"%s\" on shaft \"%s\" is not known: %s; or ignore the losses",
                                 e[i].name, e[i].joint, reason.message);
        }
        for (int k = 0; k < i; k++) {
            if (dyn_element_gear(model, k, &other) && share_coordinate(&gear, &other)) {
                return dyn_error_set(error, DYN_FAILED_PRECONDITION, place,
                                     "gears \"%s\" and \"%s\" carry the load of the same coordinate, so that their "
                                     "losses are not known; ignore them",
                                     e[k].name, e[i].name);
            }
        }
    }
    return DYN_OK;
}

/* Returns the force along the coordinate of a joint with one coordinate, of the wrench that the joint transmits. */
static double force_along(const dyn_joint *joint, const double wrench[6]) {
    double torque = 0, force = 0;
    for (int i = 0; i < 3; i++) {
        torque += joint->axis[i] * wrench[i];
        force += joint->axis[i] * wrench[3 + i];
    }
    switch (joint->type) {
    case DYN_JOINT_TYPE_PRISMATIC:
        return force;
    case DYN_JOINT_TYPE_HELICAL:
        return torque + joint->pitch * force;
    default:
        return torque;
    }
}

double dyn_transmitted_force(const dyn_model *model, int v_index, const double *wrenches) {
    double transmitted = 0;
    for (int j = 0; j < model->joint_count; j++) {
        const dyn_joint *joint = &model->joints[j];
        if (joint->v_index == v_index) {
            double along = force_along(joint, wrenches + (size_t)j * 6);
            transmitted += along * (joint->master >= 0 ? joint->multiplier : 1);
        }
    }
    return transmitted;
}

double dyn_rotor_torque(const dyn_model *model, const shaft_load *load, const double *inverse, const double *wrenches) {
    double sum = 0;
    for (int k = 0; k < load->at.count; k++) {
        int c = load->at.coordinates[k];
        sum += load->shares[k] * (inverse[c] - dyn_transmitted_force(model, c, wrenches));
    }
    return sum;
}

/* Finds the friction law of a machine element on the side of the motor of a gear. Returns false for other elements. */
static bool find_law(const dyn_model *model, int element, const gear_law *gear, friction_law *law) {
    const dyn_machine_element_description *e = &model->description->machine_elements[element];
    shaft_rates unused;
    if (e->kind != DYN_MACHINE_ELEMENT_KIND_FRICTION) {
        return false;
    }
    if (gear->shaft >= 0) {
        return find_shaft(model->description, e) == gear->shaft && dyn_element_on_shaft(model, element, &unused, law);
    }
    return e->friction.side == DYN_GEAR_SIDE_ROTOR && dyn_element_friction(model, element, law) &&
           law->v_index == gear->load.at.coordinates[0];
}

double dyn_motor_side_friction(const dyn_model *model, const gear_law *gear, const dyn_passive_parts *parts,
                               const double *v) {
    double sum = 0, rate = dyn_shaft_speed(&gear->load.at, v);
    for (int i = 0; (parts->damping || parts->friction) && i < dyn_machine_elements(model); i++) {
        friction_law law;
        if (find_law(model, i, gear, &law)) {
            sum += dyn_friction_force(&law, parts, rate);
        }
    }
    return sum;
}
