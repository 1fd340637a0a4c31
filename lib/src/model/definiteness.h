/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Test of the mass matrix of a model: is it positive definite?
 */
#ifndef DYNAMICS_MODEL_DEFINITENESS_H
#define DYNAMICS_MODEL_DEFINITENESS_H

#include "description.h"
#include "normal_form.h"

/* Configurations in which the mass matrix of a model with an inertia that no body has is eliminated. */
enum { DEFINITENESS_CONFIGURATIONS = 32 };

/* Refuses a model whose mass matrix is indefinite, and reports the joints that no inertia resists; the first of those
 * that none resists in any configuration is noted in the model.
 *
 * Where the inertia of every body is positive semidefinite, M = sum J' I J is so in all configurations. Else M is
 * eliminated in DEFINITENESS_CONFIGURATIONS of them: the zero configuration, and others at random, within the limits.
 * Mimic joints count as independent there: where that M is positive definite, M of the coupled joints is. What is found
 * wrong names the link with the smallest principal moment behind the joint. Errors: DYN_INVALID_ARGUMENT,
 * DYN_RESOURCE_EXHAUSTED. Cost O(bodies) for each configuration. */
dyn_status inspect_mass_matrix(const dyn_builder *builder, dyn_model *model, dyn_report *report, dyn_error *error);

#endif
