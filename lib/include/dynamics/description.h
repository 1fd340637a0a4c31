/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Conversion of a model back to its description: the links and joints that it was built from, including fixed joints
 * and the couplings of mimic joints, so that a description can be read, changed, written and built again.
 *
 * The functions are thread-safe for models; a builder belongs to one thread at a time.
 */
#ifndef DYNAMICS_DESCRIPTION_H
#define DYNAMICS_DESCRIPTION_H

#include <stdbool.h>
#include <stddef.h>

#include <dynamics/builder.h>
#include <dynamics/constraint.h>
#include <dynamics/export.h>
#include <dynamics/model.h>
#include <dynamics/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Creates a builder that holds the model's description: all that the model's own builder held except the lines of a
 * file. Building it with dyn_model_build_options yields an equal model. The caller frees it. Cost O(links log links).
 * Errors: DYN_RESOURCE_EXHAUSTED. */
DYN_API dyn_status dyn_model_describe(const dyn_model *model, dyn_builder **builder, dyn_error *error);

/* Stores the options that the model was built with. DYN_BUILD_OPTIONS_INIT has initialized `options`. */
DYN_API dyn_status dyn_model_build_options(const dyn_model *model, dyn_build_options *options, dyn_error *error);

/* Name of the robot, and the acceleration of gravity, m/s^2. */
DYN_API const char *dyn_builder_name(const dyn_builder *builder);
DYN_API void dyn_builder_gravity(const dyn_builder *builder, double gravity[3]);

/* Links, joints and constraints in the order in which they were added; axes have unit length. The descriptions and
 * their strings live until the builder is changed or freed. The result is NULL for an index that is out of range. */
DYN_API int dyn_builder_link_count(const dyn_builder *builder);
DYN_API const dyn_link_description *dyn_builder_link(const dyn_builder *builder, int link);
DYN_API int dyn_builder_joint_count(const dyn_builder *builder);
DYN_API const dyn_joint_description *dyn_builder_joint(const dyn_builder *builder, int joint);
DYN_API int dyn_builder_constraint_count(const dyn_builder *builder);
DYN_API const dyn_constraint_description *dyn_builder_constraint(const dyn_builder *builder, int constraint);

/* Writes the description as text for another program. It covers all joint types and the options that the model was
 * built with, and it is exact: a program that reads it builds a model of the same canonical text. The first line is
 * "dynamics description 1". The caller frees the text with dyn_text_free. For a format that other tools read, see
 * dyn_urdf_write (urdf.h).
 * Cost O(links).
 * Errors: DYN_RESOURCE_EXHAUSTED. */
DYN_API dyn_status dyn_description_write(const dyn_model *model, char **text, size_t *length, dyn_error *error);

/* Reads a text of dyn_description_write (not NUL-terminated) into a new builder, which the caller frees, and the
 * options to build it with, which DYN_BUILD_OPTIONS_INIT has initialized. Cost O(links log links).
 * Errors: DYN_INVALID_ARGUMENT with the place "line 12"; those of dyn_builder_add_link and dyn_builder_add_joint. */
DYN_API dyn_status dyn_description_read(const char *text, size_t length, dyn_builder **builder,
                                        dyn_build_options *options, dyn_error *error);

/* Returns whether a text begins like a text of dyn_description_write. */
DYN_API bool dyn_description_is_text(const char *text, size_t length);

#ifdef __cplusplus
}
#endif

#endif
