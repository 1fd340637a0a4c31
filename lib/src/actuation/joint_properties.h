/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Properties of joints by coordinate: damping, friction, effort and position limits, and the friction laws and springs
 * of machine elements. Properties of coupled mimic joints apply to their master.
 */
#ifndef DYNAMICS_ACTUATION_JOINT_PROPERTIES_H
#define DYNAMICS_ACTUATION_JOINT_PROPERTIES_H

#include <stdbool.h>

#include <dynamics/machine_element.h>
#include <dynamics/model.h>
#include <dynamics/passive_force.h>

#include "../model/passive_force.h"

/* Range of a coordinate, and the joint that states it. */
typedef struct joint_range {
    int joint, q_index, v_index;
    double lower, upper;
} joint_range;

/* Damping b and Coulomb friction f of the coordinates that a joint moves. */
typedef struct joint_losses {
    int v_index, nv;
    double damping, friction;
} joint_losses;

/* Returns the losses of a joint. A mimic joint with the ratio r adds r^2 b and |r| f to the coordinates of its
 * master. */
joint_losses dyn_joint_losses(const dyn_model *model, const dyn_joint *joint);

/* Finds the joint that an element moves with, and the ratio of its rate to that of the coordinate. Returns NULL for a
 * joint that does not move. */
const dyn_joint *dyn_moving_joint(const dyn_model *model, const dyn_machine_element_description *element,
                                  double *ratio);

/* Finds the friction law, or the spring, of a machine element in terms of its coordinate. Returns false for an element
 * of another kind, and for one whose joint does not move. */
bool dyn_element_friction(const dyn_model *model, int element, friction_law *law);
bool dyn_element_spring(const dyn_model *model, int element, spring_law *spring);

/* Return the passive force at the rate v of a friction law, and of the losses of a joint: the parts that count. */
double dyn_friction_force(const friction_law *law, const dyn_passive_parts *parts, double v);
double dyn_joint_loss_force(const joint_losses *losses, const dyn_passive_parts *parts, double v);

/* Returns K in the force -K v of a friction law at the rate v. */
double dyn_friction_coefficient(const friction_law *law, const dyn_passive_parts *parts, double v);

/* Shaft in terms of coordinates: it turns at the rate w = sum rates[k] v[coordinates[k]]. */
typedef struct shaft_rates {
    int count;
    int coordinates[DYN_MAX_SHAFT_JOINTS];
    double rates[DYN_MAX_SHAFT_JOINTS];
} shaft_rates;

/* Bristles of a friction law (dynamics/machine_element.h), in terms of its coordinate or of the rate of its shaft. */
typedef struct bristle_law {
    friction_law law;
    int element;    /* machine element */
    int shaft;      /* machine element of its shaft; -1: at a joint */
    int law_index;  /* in joint_properties.laws; -1: on a shaft */
    shaft_rates at; /* the shaft, or the coordinate of the joint alone */
    double stiffness, damping;
} bristle_law;

/* Finds the bristles of a machine element; law_index is 0 for those of a joint. Returns false for an element without
 * any, and for one whose joint or shaft does not move. */
bool dyn_element_bristles(const dyn_model *model, int element, bristle_law *bristles);

/* Finds the torque of a brake as Coulomb friction of its coordinate. Returns false for an element of another kind, and
 * for a brake whose joint does not move. */
bool dyn_element_brake(const dyn_model *model, int element, friction_law *law);

/* Finds the coordinates of the joints of a shaft. Returns false where none of them moves. */
bool dyn_shaft_rates(const dyn_model *model, const dyn_shaft *shaft, shaft_rates *found);

/* Finds the friction, or the torque of the brake as Coulomb friction, that a machine element exerts on a shaft, as a
 * law on the rate w. Returns false for an element of another kind, for one of a joint, and for a shaft that does not
 * turn. */
bool dyn_element_on_shaft(const dyn_model *model, int element, shaft_rates *shaft, friction_law *law);

/* Returns the rate of a shaft at the rates v of the coordinates. */
double dyn_shaft_speed(const shaft_rates *shaft, const double *v);

/* Returns the number of friction laws and brakes on shafts. */
int dyn_shaft_elements(const dyn_model *model);

/* Properties of the joints of a model. The caller owns the arrays: nv doubles each, dyn_joint_ranges(model) ranges,
 * and dyn_machine_elements(model) laws, springs and bristles each. */
typedef struct joint_properties {
    double *damping, *friction;
    double *effort; /* infinite where it is not stated */
    joint_range *ranges;
    int range_count;
    bool has_damping, has_friction;
    friction_law *laws;
    spring_law *springs;
    bristle_law *bristles;
    int law_count, spring_count, bristle_count;
} joint_properties;

/* Returns the number of joints with a range. It is an upper bound of range_count, because a mimic joint and its master
 * have one range together. */
int dyn_joint_ranges(const dyn_model *model);

/* Returns the number of machine elements, an upper bound of the counts of laws, springs and bristles. */
int dyn_machine_elements(const dyn_model *model);

/* Fills the arrays of `properties`, and sets its counts, has_damping and has_friction. */
void dyn_joint_properties(const dyn_model *model, joint_properties *properties);

#endif
