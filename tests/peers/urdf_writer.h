/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes a model as URDF, for libraries that read no other format.
 */
#ifndef DYNAMICS_TESTS_URDF_WRITER_H
#define DYNAMICS_TESTS_URDF_WRITER_H

#include <dynamics/model.h>

/* Returns the text of a URDF file of the model, with every link, and `extension` as the last element of the robot. A
 * floating base is attached to a link "world"; links that are fixed to the world are written without mass, as they move
 * nothing. The caller frees the text. Returns NULL where URDF lacks a joint type, or memory is exhausted. */
char *urdf_write(const dyn_model *model, const char *extension);

#endif
