/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rotors (model/rotor.h) computed together with the joint that they drive, without bodies of their own.
 *
 * The rotors of a joint with the coordinate q, the rate v and the acceleration a have the constants
 *     g = sum of G I_a u        d = sum of G^2 I_a
 * with g in the frame of the parent. At rest relative to the parent they belong to its carried inertia. Their spin adds
 * the moment
 *     n = g a + w x g v                to the parent's wrench, with the parent's angular velocity w
 *     tau = g . alpha + d a            to the force of the joint, with the parent's angular acceleration alpha
 *
 * Source: Modern Robotics (Lynch and Park 2017), section 8.9.2; Jain and Rodriguez 1990.
 */
#ifndef DYNAMICS_KERNELS_DRIVEN_JOINT_H
#define DYNAMICS_KERNELS_DRIVEN_JOINT_H

#include "../model/joint.h"

/* Returns whether rotors are computed with their joints. Where joints share coordinates, or turn shafts together, the
 * rotors are bodies. */
static inline int has_driven_joints(const dyn_model *model) {
    return model->link_bodies < model->body_count && !model->has_mimic;
}

/* Returns whether several of the bodies to compute share a coordinate. */
static inline int shares_coordinates(const dyn_model *model) {
    return model->has_coupling && !has_driven_joints(model);
}

/* Returns the number of bodies to compute. */
static inline int count_computed(const dyn_model *model) {
    return has_driven_joints(model) ? model->link_bodies : model->body_count;
}

/* Returns the inertia of a body without its subtree, but with the axial inertias of the rotors that it carries. */
static inline rigid_inertia carried_inertia(const body *b) {
    rigid_inertia I = body_inertia(b);
    I.I = sym3_rounded(constants_of(b)->carried_inertia);
    return I;
}

/* Returns the inertia of a body without its subtree, for algorithms that compute the first count_computed bodies. */
static inline rigid_inertia computed_inertia(const dyn_model *model, const body *b) {
    return has_driven_joints(model) ? carried_inertia(b) : body_inertia(b);
}

/* Returns the grouped parameters of a body. `driven`: those with rotors at rest. */
static inline const grouping_constants *computed_grouping(const body *b, int driven) {
    return driven ? &constants_of(b)->carried : &constants_of(b)->grouped;
}

/* Returns g of the joint of a body. */
static inline vec3 rotor_couple(const body *b) {
    return vec3_rounded(constants_of(b)->rotor_couple);
}

/* Returns d of the joint of a body. */
static inline real reflected_inertia(const body *b) {
    return rounded_set(constants_of(b)->reflected_inertia);
}

#endif
