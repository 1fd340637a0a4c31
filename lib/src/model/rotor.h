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
 */
#ifndef DYNAMICS_MODEL_ROTOR_H
#define DYNAMICS_MODEL_ROTOR_H

#include "description.h"
#include "normal_form.h"

/* Appends the bodies of all rotors to a model with complete coordinates and frames; there is room for two for each.
 * Errors: DYN_RESOURCE_EXHAUSTED. */
dyn_status append_rotors(const dyn_builder *builder, dyn_error *error, dyn_model *model);

/* Adds the rotors to `bodies`, which hold the inertias of all links: those of the model, or their copy with payloads.
 * Finds the constants of driven joints. */
void merge_rotors(const dyn_model *model, body *bodies);

/* Refuses a model with rotors for a function that considers links alone, such as "the torque regressor". Errors:
 * DYN_FAILED_PRECONDITION with place "machine element NAME". */
dyn_status refuse_rotors(const dyn_model *model, const char *function, dyn_error *error);

#endif
