/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Machine elements of a description, and their normal form.
 */
#ifndef DYNAMICS_MODEL_MACHINE_ELEMENT_H
#define DYNAMICS_MODEL_MACHINE_ELEMENT_H

#include "description.h"
#include "normal_form.h"

/* Returns whether elements of a kind act on links, and not on a joint. */
static inline bool acts_on_links(dyn_machine_element_kind kind) {
    return kind >= DYN_MACHINE_ELEMENT_KIND_STRUT && kind <= DYN_MACHINE_ELEMENT_KIND_FLUID;
}

/* Checks the elements of a description against its joints.
 * Errors: DYN_INVALID_ARGUMENT for a joint that does not exist or has other than one coordinate, and for friction on
 * the side of a rotor that is not the only one of its joint. */
dyn_status check_machine_elements(const dyn_builder *builder, dyn_error *error);

/* Reports elements of fixed joints. */
void inspect_machine_elements(const dyn_builder *builder, dyn_report *report);

/* Returns the index of the shaft on which a friction law or a brake acts, or -1 where it acts on a joint. */
int find_shaft(const dyn_builder *builder, const dyn_machine_element_description *element);

/* Returns a bound on the rotors of a description, on moving joints and on fixed ones, and of shafts. */
int count_rotors(const dyn_builder *builder);

/* Returns a bound on the bodies of all rotors. */
int count_rotor_bodies(const dyn_builder *builder);

#endif
