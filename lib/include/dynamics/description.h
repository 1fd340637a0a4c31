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

/* Stores the options that the model was built with in `options`, which DYN_BUILD_OPTIONS_INIT must have initialized.
 * Errors: DYN_INVALID_ARGUMENT for `options` that are not initialized. */
DYN_API dyn_status dyn_model_build_options(const dyn_model *model, dyn_build_options *options, dyn_error *error);

/* Returns the name of the robot, which lives as long as the builder. */
DYN_API const char *dyn_builder_name(const dyn_builder *builder);

/* Stores the acceleration of gravity in world axes, m/s^2. */
DYN_API void dyn_builder_gravity(const dyn_builder *builder, double gravity[3]);

/* Returns the number of links. */
DYN_API int dyn_builder_link_count(const dyn_builder *builder);

/* Returns a link, in the order in which links were added; NULL for an index that is out of range. The description and
 * its strings live until the builder is changed or freed. */
DYN_API const dyn_link_description *dyn_builder_link(const dyn_builder *builder, int link);

/* Returns the number of joints. */
DYN_API int dyn_builder_joint_count(const dyn_builder *builder);

/* Returns a joint, in the order in which joints were added; NULL for an index that is out of range. Its axes have unit
 * length. The description and its strings live until the builder is changed or freed. */
DYN_API const dyn_joint_description *dyn_builder_joint(const dyn_builder *builder, int joint);

/* Returns the number of constraints. */
DYN_API int dyn_builder_constraint_count(const dyn_builder *builder);

/* Returns a constraint, in the order in which constraints were added; NULL for an index that is out of range. Its axes
 * have unit length. The description and its strings live until the builder is changed or freed. */
DYN_API const dyn_constraint_description *dyn_builder_constraint(const dyn_builder *builder, int constraint);

/* Largest number of notes of a description, and of bytes of one. */
enum { DYN_MAX_NOTES = 64, DYN_MAX_NOTE = 1000 };

/* Adds a sentence about how the description came about. Each becomes a note of the load report about the robot, stays
 * with the model and the models that are derived from it, and is no part of the canonical text. The builder copies it.
 * Errors: DYN_INVALID_ARGUMENT with the place "note" for a text that is empty, longer than DYN_MAX_NOTE bytes or not
 * printable (text.h); DYN_RESOURCE_EXHAUSTED, also for more than DYN_MAX_NOTES notes. */
DYN_API dyn_status dyn_builder_add_note(dyn_builder *builder, const char *note, dyn_error *error);

/* Returns the number of notes. */
DYN_API int dyn_builder_note_count(const dyn_builder *builder);

/* Returns a note, in the order in which notes were added; NULL for an index that is out of range. The text lives until
 * the builder is changed or freed. */
DYN_API const char *dyn_builder_note(const dyn_builder *builder, int note);

/* Writes the description as text for another program. It covers all joint types and the options that the model was
 * built with, and it is exact: a program that reads it builds a model of the same canonical text. The first line is
 * "dynamics description 1". The caller frees the text with dyn_text_free. For a format that other tools read, see
 * dyn_urdf_write (urdf.h).
 * Cost O(links).
 * Errors: DYN_RESOURCE_EXHAUSTED. */
DYN_API dyn_status dyn_description_write(const dyn_model *model, char **text, size_t *length, dyn_error *error);

/* Reads a text of dyn_description_write (not NUL-terminated) into a new builder, which the caller frees, and the
 * options to build it with, which DYN_BUILD_OPTIONS_INIT has initialized. Cost O(links log links).
 * Errors: DYN_INVALID_ARGUMENT with the place "line 12" or for `options` that are not initialized;
 * DYN_RESOURCE_EXHAUSTED; those of dyn_builder_add_link, dyn_builder_add_joint and dyn_builder_add_constraint. */
DYN_API dyn_status dyn_description_read(const char *text, size_t length, dyn_builder **builder,
                                        dyn_build_options *options, dyn_error *error);

/* Returns whether a text begins like a text of dyn_description_write. */
DYN_API bool dyn_description_is_text(const char *text, size_t length);

#ifdef __cplusplus
}
#endif

#endif
