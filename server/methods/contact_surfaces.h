/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Contact surfaces of a ModelDescription: converts them to a builder and back.
 */
#ifndef SERVER_METHODS_CONTACT_SURFACES_H
#define SERVER_METHODS_CONTACT_SURFACES_H

#include <dynamics/dynamics.h>

#include "methods/call.h"

/* Checks the number of contact surfaces of a new model. Returns false when the call has ended because there are more
 * than limits.contact_surfaces; `field` is their place in the request. */
bool contact_surfaces_check_count(call *c, const char *field, size_t count);

/* Adds the contact surfaces of a description to a builder. Returns false when the call has ended with an error, whose
 * field is that of the wrong member. */
bool contact_surfaces_read(call *c, const Dynamics__V1__ModelDescription *from, dyn_builder *builder);

/* Sets the field of an error of the library about a contact surface, such as
 * "description.contact_surfaces[2].friction". Returns false, and sets nothing, for an error about something else. */
bool contact_surfaces_blame(call *c, const dyn_error_site *site);

/* Writes the contact surfaces of a builder. Returns NULL for none, or when the call has ended. */
Dynamics__V1__ContactSurface **contact_surfaces_write(call *c, const dyn_builder *from, size_t *count);

/* Writes the contact surfaces of a model. Returns NULL for none, or when the call has ended. */
Dynamics__V1__ContactSurface **contact_surfaces_describe(call *c, const dyn_model *model, size_t *count);

#endif
