/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Normal form of the constraints of a model.
 */
#ifndef DYNAMICS_MODEL_CONSTRAINT_H
#define DYNAMICS_MODEL_CONSTRAINT_H

#include "description.h"
#include "normal_form.h"

/* Fills the constraints of a compiled model. free_constraints frees them, also after an error.
 * Errors: DYN_INVALID_ARGUMENT, DYN_RESOURCE_EXHAUSTED. */
dyn_status compile_constraints(const dyn_builder *builder, dyn_error *error, dyn_model *model);

void free_constraints(dyn_model *model);

#endif
