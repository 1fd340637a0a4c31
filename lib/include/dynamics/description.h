/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From a model back to its description: the links and joints that it was built from, fixed joints and the couplings of
 * mimic joints included, so that a description can be read, changed, written and built again.
 *
 * Thread-safe for models; a builder belongs to one thread at a time.
 */
#ifndef DYNAMICS_DESCRIPTION_H
#define DYNAMICS_DESCRIPTION_H

#include <stdbool.h>
#include <stddef.h>

#include <dynamics/builder.h>
#include <dynamics/export.h>
#include <dynamics/model.h>
#include <dynamics/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A new builder that holds the model's description: all that the model's own builder held but the lines of a file.
 * Built with dyn_model_build_options it gives an equal model. The caller frees it. Cost O(links log links).
 * Errors: DYN_RESOURCE_EXHAUSTED. */
DYN_API dyn_status dyn_model_describe(const dyn_model *model, dyn_error *error, dyn_builder **builder);

/* The options that the model was built with. */
DYN_API dyn_build_options dyn_model_build_options(const dyn_model *model);

/* Name of the robot, and the acceleration of gravity, m/s^2. */
DYN_API const char *dyn_builder_name(const dyn_builder *builder);
DYN_API void dyn_builder_gravity(const dyn_builder *builder, double gravity[3]);

/* Links and joints in the order in which they were added; axes have unit length. The descriptions and their strings
 * live until the builder is changed or freed. NULL for a number that is none. */
DYN_API int dyn_builder_link_count(const dyn_builder *builder);
DYN_API const dyn_link_description *dyn_builder_link(const dyn_builder *builder, int link);
DYN_API int dyn_builder_joint_count(const dyn_builder *builder);
DYN_API const dyn_joint_description *dyn_builder_joint(const dyn_builder *builder, int joint);

/* The description as text, for another program: of all joint types, with the options that the model was built with, and
 * exact, so that what reads it builds a model of the same canonical text. Its first line is "dynamics description 1".
 * dyn_urdf_write (urdf.h) writes what other tools read too. The caller frees it with free(). Errors:
 * DYN_RESOURCE_EXHAUSTED. Cost O(links). */
DYN_API dyn_status dyn_description_write(const dyn_model *model, dyn_error *error, char **text, size_t *length);

/* Reads such a text (not NUL-terminated) into a new builder, which the caller frees, and the options to build it with.
 * Errors: DYN_INVALID_ARGUMENT with the place "line 12"; those of dyn_builder_add_link and dyn_builder_add_joint. Cost
 * O(links log links). */
DYN_API dyn_status dyn_description_read(const char *text, size_t length, dyn_error *error, dyn_builder **builder,
                                        dyn_build_options *options);

/* Returns whether a text begins as such a text does. */
DYN_API bool dyn_description_is_text(const char *text, size_t length);

#ifdef __cplusplus
}
#endif

#endif
