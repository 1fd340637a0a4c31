/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes a model with constraints in MuJoCo's own format: its reader of URDF knows no constraint.
 */
#ifndef DYNAMICS_TESTS_MJCF_WRITER_H
#define DYNAMICS_TESTS_MJCF_WRITER_H

#include <dynamics/constraint.h>
#include <dynamics/model.h>

enum { MJCF_REASON_SIZE = 256 };

/* Returns the text of a file of a model whose joints are revolute or prismatic, body by body, with its fixed poses,
 * coincident points, gears and polynomials as equality constraints. They stand in the order of the model's constraints.
 * The caller frees the text. Returns NULL, with the reason, where MuJoCo lacks a joint or a constraint, or memory is
 * exhausted. */
char *mjcf_write(const dyn_model *model, char reason[MJCF_REASON_SIZE]);

#endif
