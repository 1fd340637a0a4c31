/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Test of the mass matrix of a model for positive definiteness.
 */
#ifndef DYNAMICS_MODEL_DEFINITENESS_H
#define DYNAMICS_MODEL_DEFINITENESS_H

#include "description.h"
#include "normal_form.h"

/* Number of configurations in which the mass matrix is factorized if a body has an impossible inertia. */
enum { DEFINITENESS_CONFIGURATIONS = 32 };

/* Refuses a model whose mass matrix is indefinite. Reports the joints that no inertia resists in any configuration as
 * warnings, and stores the last of them in model->unresisted, or -1.
 *
 * Where the inertia of every body is positive semidefinite, M = sum J' I J is positive semidefinite in all
 * configurations. Else M is factorized in DEFINITENESS_CONFIGURATIONS configurations: the zero configuration, and
 * others at random, within the limits. Mimic joints are independent there: where that M is positive definite, M of the
 * coupled joints is. An error names the link with the smallest principal moment in the joint's subtree. Cost
 * O(bodies) for each configuration.
 * Errors: DYN_INVALID_ARGUMENT, DYN_RESOURCE_EXHAUSTED. */
dyn_status inspect_mass_matrix(const dyn_builder *builder, dyn_model *model, dyn_report *report, dyn_error *error);

#endif
