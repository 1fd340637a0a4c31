/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Machine elements of a ModelDescription: converts them to a builder and back.
 */
#ifndef SERVER_METHODS_MACHINE_ELEMENTS_H
#define SERVER_METHODS_MACHINE_ELEMENTS_H

#include <dynamics/dynamics.h>

#include "methods/call.h"

/* Adds the machine elements of a description to a builder. Returns false when the call has ended with an error, whose
 * field is that of the wrong member. */
bool machine_elements_read(call *c, const Dynamics__V1__ModelDescription *from, dyn_builder *builder);

/* Read a motor or a gear that is no element of a description, but a member of the message at `path`: "choices[2]". NULL
 * leaves the result as it is. Return false when the call has ended with an error, whose field is the wrong member. */
bool machine_elements_read_motor(call *c, const char *path, const Dynamics__V1__Motor *from, dyn_motor *motor);
bool machine_elements_read_gear(call *c, const char *path, const Dynamics__V1__Gear *from, dyn_gear *gear);

/* Checks the number of machine elements of a new model. Returns false when the call has ended because there are more
 * than limits.machine_elements; `field` is their place in the request. */
bool machine_elements_check_count(call *c, const char *field, size_t count);

/* Sets the field of an error about machine element i of the builder of a description, at whose member the site of the
 * library's error points: "description.machine_elements[2].rotor.ratio". The builder has the springs of flexible beams
 * after all other elements. */
void machine_elements_blame(call *c, const Dynamics__V1__ModelDescription *from, size_t i, const dyn_error_site *site);

/* Writes the machine elements of a builder. Returns NULL for none, or when the call has ended. */
Dynamics__V1__MachineElement **machine_elements_write(call *c, const dyn_builder *from, size_t *count);

/* Writes the machine elements of a model. Returns NULL for none, or when the call has ended. */
Dynamics__V1__MachineElement **machine_elements_describe(call *c, const dyn_model *model, size_t *count);

#endif
