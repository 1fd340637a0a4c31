/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Normal form of the rotors of a model.
 *
 * The mass and the transverse inertia of a balanced rotor move with the body that carries it, as if the rotor did not
 * spin, and are merged into that body. What is left is its axial inertia: a massless body with I_zz = I_a, on a
 * revolute joint about its axis, which shares the coordinate of the driven joint with the ratio G, as a coupled mimic
 * joint does. These bodies have no links and no children, and are the last ones of the list.
 *
 * Two rotors with half of the inertia and the ratios G and -G have the same kinetic energy except for the coupling.
 * They stand for a rotor in the diagonal approximation, so that all algorithms compute it. Their spins cancel in
 * momenta. Where the parent link includes the axial inertia, the body that carries the rotor has as much less.
 *
 * A shaft that several joints turn is a chain of such bodies about one axis, one for each joint, whose rates add up.
 * The last body has the axial inertia. Without exact coupling there are two chains with opposite ratios.
 */
#ifndef DYNAMICS_MODEL_ROTOR_H
#define DYNAMICS_MODEL_ROTOR_H

#include "description.h"
#include "normal_form.h"

/* Appends the bodies of all rotors to a model with complete coordinates and frames; count_rotor_bodies states the room.
 * Errors: DYN_RESOURCE_EXHAUSTED. */
dyn_status append_rotors(const dyn_builder *builder, dyn_error *error, dyn_model *model);

/* Adds the rotors to `bodies`, which hold the inertias of all links: those of the model, or their copy with payloads.
 * Finds the constants of driven joints. */
void merge_rotors(const dyn_model *model, body *bodies);

/* Copies the bodies of a model to `bodies`, with the inertias of the rotors alone. */
void rotors_alone(const dyn_model *model, body *bodies);

/* Copies the bodies of a model to `bodies`, so that a body that carries a rotor with exact coupling has the inertia
 * -I_a about the rotor's axis, and the rotor I_a. All other inertias are zero. The kinetic energy of the rotor is then
 *     I_a (w_a + G v)^2 / 2 - I_a w_a^2 / 2 = G I_a w_a v + G^2 I_a v^2 / 2 */
void rotor_coupling_alone(const dyn_model *model, body *bodies);

/* Returns whether body i of a rotor is the last one of a chain. */
static inline bool rotor_ends_at(const body *bodies, const model_rotor *r, int i) {
    return i + 1 == r->first_body + r->body_count || bodies[i + 1].parent != i;
}

/* Returns whether a rotor spins and has one chain, and not two with opposite ratios. */
bool rotor_is_exact(const body *bodies, const model_rotor *r);

/* Returns whether a machine element is a rotor, or a shaft with inertia. Rotors have the order of these elements. */
bool element_is_rotor(const dyn_machine_element_description *element);

/* Computes the pose of a rotor, whose z axis is its own, in the frame in which its element states it. */
dyn_pose rotor_place(const dyn_model *model, const model_rotor *r, const dyn_machine_element_description *element);

/* Returns the index of the body that carries a rotor; -1: the world. */
int rotor_carrier(const dyn_model *model, const model_rotor *r);

/* Adds the inertia of a rotor that moves with the body that carries it, to that body or to a massless one. */
void merge_carried(const dyn_model *model, const model_rotor *r, body *carrier);

#endif
