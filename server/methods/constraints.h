/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Constraints: converts those of a ModelDescription or of a query to a builder and back, and describes their rows in a
 * model.
 */
#ifndef SERVER_METHODS_CONSTRAINTS_H
#define SERVER_METHODS_CONSTRAINTS_H

#include <dynamics/dynamics.h>

#include "methods/call.h"

/* Checks the number of constraints of a new model. Returns false when the call has ended because there are more than
 * limits.constraints; `field` is their place in the request. */
bool constraints_check_count(call *c, const char *field, size_t count);

/* Adds the constraints of a description to a builder. Returns false when the call has ended with an error, whose field
 * is the wrong member. */
bool constraints_read(call *c, const Dynamics__V1__ModelDescription *from, dyn_builder *builder);

/* Sets the field of an error about constraint i of a description, such as "description.constraints[2].loop_joint.axis".
 * The site of the library's error determines the member. */
void constraints_blame(call *c, const Dynamics__V1__ModelDescription *from, size_t i, const dyn_error_site *site);

/* Builds the model of an entry with further constraints, those of a query. Releases `entry`. Returns an entry of its
 * own, which the caller releases; NULL, and the call has ended, on an error. */
model_entry *constraints_add(call *c, model_entry *entry, size_t count, Dynamics__V1__Constraint *const *from);

/* Converts the constraints of a builder to the protocol's form. Returns NULL for none, or when the call has ended. */
Dynamics__V1__Constraint **constraints_write(call *c, const dyn_builder *from, size_t *count);

/* Converts the constraints of a model, with their rows, to the protocol's form. Returns NULL for a model without
 * constraints. When the call has ended because of memory, the result is incomplete or NULL. */
Dynamics__V1__Constraint **constraints_describe(call *c, const dyn_model *model, size_t *count);

/* Writes the names of the constraint rows of a model, as in ConstraintRows. Returns NULL when out of memory. Some names
 * may be NULL if the call has ended. */
char **constraints_row_names(call *c, const dyn_model *model);

/* Refuses a model with constraints for a result that ignores them; `what` names it in the message. Returns true for a
 * model without constraints. */
bool constraints_are_absent(const model_entry *entry, const char *what, refusal *why);

/* Refuses a model without constraints for a result that is of them. Returns true for a model with constraints. */
bool constraints_are_present(const model_entry *entry, const char *what, refusal *why);

#endif
