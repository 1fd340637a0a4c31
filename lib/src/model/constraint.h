/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Normal form of the constraints of a model.
 */
#ifndef DYNAMICS_MODEL_CONSTRAINT_H
#define DYNAMICS_MODEL_CONSTRAINT_H

#include "description.h"
#include "normal_form.h"

/* Fills the constraints of a model whose links and joints are compiled. The caller frees them with free_constraints,
 * also after an error.
 * Errors: DYN_INVALID_ARGUMENT for an unknown link or joint and for a constraint whose sides are on the same link;
 * DYN_RESOURCE_EXHAUSTED. */
dyn_status compile_constraints(const dyn_builder *builder, dyn_error *error, dyn_model *model);

/* Frees the constraints of a model. */
void free_constraints(dyn_model *model);

/* Returns whether a kind of constraint ties coordinates instead of frames. */
bool ties_coordinates(dyn_constraint_kind kind);

/* Returns the number of directions along which the joints of closed loops exert forces. After the closures of the
 * constraints, model->closures has one for each of them, whose rows are these directions. */
int constraint_force_rows(const dyn_model *model);

#endif
