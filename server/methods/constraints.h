/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Constraints of a ModelDescription: conversion to a builder, and back; and their rows in a model.
 */
#ifndef SERVER_METHODS_CONSTRAINTS_H
#define SERVER_METHODS_CONSTRAINTS_H

#include <dynamics/dynamics.h>

#include "methods/call.h"

/* Adds the constraints of a description to a builder. Returns false when the call has ended with an error, whose field
 * is that of the wrong member. */
bool constraints_read(call *c, const Dynamics__V1__ModelDescription *from, dyn_builder *builder);

/* Sets the field of an error about constraint i of a description, at whose member the site of the library's error
 * points: "description.constraints[2].loop_joint.axis". */
void constraints_blame(call *c, const Dynamics__V1__ModelDescription *from, size_t i, const dyn_error_site *site);

/* Writes the constraints of a builder. Returns NULL for none, or when the call has ended. */
Dynamics__V1__Constraint **constraints_write(call *c, const dyn_builder *from, size_t *count);

/* Writes the constraints of a model with their rows. Returns NULL for none, or when the call has ended. */
Dynamics__V1__Constraint **constraints_describe(call *c, const dyn_model *model, size_t *count);

/* Writes the names of the m rows of a model, as ConstraintRows has them. Returns NULL when out of memory. */
char **constraints_row_names(call *c, const dyn_model *model);

/* Refuses a model with constraints for `what`, which would ignore them. Returns true for a model without any. */
bool constraints_are_absent(const model_entry *entry, const char *what, refusal *why);

#endif
