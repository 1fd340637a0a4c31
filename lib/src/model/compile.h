/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compiler from a description to a model in normal form.
 */
#ifndef DYNAMICS_MODEL_COMPILE_H
#define DYNAMICS_MODEL_COMPILE_H

#include "description.h"
#include "mimic.h"
#include "normal_form.h"
#include "tree.h"

/* Fills a zeroed model. `couplings` has one entry for each of the builder's joints. dyn_model_free frees the model,
 * also after an error. Cost O(links log links).
 * Errors: DYN_INVALID_ARGUMENT, DYN_RESOURCE_EXHAUSTED. */
dyn_status compile_model(const dyn_builder *builder, const tree *links, const coupling *couplings,
                         const dyn_build_options *options, dyn_error *error, dyn_model *model);

/* Reports merged links, values without effect and suspicious values of a compiled model, and refuses one whose mass
 * matrix is indefinite.
 * Errors: DYN_INVALID_ARGUMENT, DYN_RESOURCE_EXHAUSTED. */
dyn_status inspect_model(const dyn_builder *builder, const tree *links, dyn_model *model, dyn_report *report,
                         dyn_error *error);

#endif
