/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writing a model as URDF, for libraries that read nothing else.
 */
#ifndef DYNAMICS_TESTS_URDF_WRITER_H
#define DYNAMICS_TESTS_URDF_WRITER_H

#include <dynamics/model.h>

/* The text of a URDF file of the model, with every link, and `extension` as the last element of the robot. A floating
 * base hangs on a link "world"; what is fixed to the world is written without mass, as it moves nothing. The caller
 * frees it. NULL: a joint is of a type that URDF has not got, or no memory. */
char *urdf_write(const dyn_model *model, const char *extension);

#endif
