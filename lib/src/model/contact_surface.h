/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Contact surfaces of a description.
 */
#ifndef DYNAMICS_MODEL_CONTACT_SURFACE_H
#define DYNAMICS_MODEL_CONTACT_SURFACE_H

#include <stdio.h>

#include "description.h"

/* Names of the shapes, in the order of dyn_contact_shape. */
enum { CONTACT_SHAPE_COUNT = 7 };
extern const char *const contact_shapes[CONTACT_SHAPE_COUNT];

/* Checks the surfaces of a description against its links, and the number of their pairs.
 * Errors: DYN_INVALID_ARGUMENT for an unknown link; DYN_RESOURCE_EXHAUSTED. */
dyn_status check_contact_surfaces(const dyn_builder *builder, dyn_error *error);

/* Returns whether a surface is a plane or a height field, which others touch. */
bool contact_surface_is_ground(const dyn_contact_surface *surface);

/* Returns whether surface i touches surface k: k is a plane or a height field, i is neither, and both are
 * not on the same link. */
bool contact_surfaces_touch(const dyn_builder *builder, int i, int k);

/* Returns the number of pairs of surfaces that touch. */
int count_contact_pairs(const dyn_builder *builder);

/* Copies the surfaces of the links that `to` has, and those of the world, to a builder that has none. Errors:
 * DYN_RESOURCE_EXHAUSTED. */
dyn_status builder_copy_contact_surfaces(const dyn_builder *from, dyn_error *error, dyn_builder *to);

/* Frees the contact surfaces of a builder. */
void builder_clear_contact_surfaces(dyn_builder *builder);

/* Writes the sizes and the parameters of the law of a surface. */
void print_contact_numbers(FILE *out, const dyn_contact_surface *surface);

/* Returns the name of a shape, such as "sphere". */
const char *contact_shape_name(dyn_contact_shape shape);

#endif
