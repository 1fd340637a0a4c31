/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Blocks of formulations by their names.
 */
#ifndef DYNAMICS_TESTS_FORMULATION_BLOCKS_H
#define DYNAMICS_TESTS_FORMULATION_BLOCKS_H

#include <dynamics/formulation.h>

/* A motion of a model. v and a may be NULL: zero; gravity too: that of the model. */
typedef struct motion_of_model {
    const dyn_model *model;
    const double *gravity, *q, *v, *a;
} motion_of_model;

/* Returns the values of a block, and requires that it has `count` numbers. */
const double *find_block(const dyn_formulation_block *blocks, int block_count, const char *name, size_t count);

/* Evaluates a formulation and copies one block, of `count` numbers, to `out`. */
void evaluate_block(const char *formulation, const motion_of_model *x, const char *name, size_t count, double *out);

#endif
