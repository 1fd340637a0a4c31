/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds the blocks that a formulation computes by their names, for tests.
 */
#ifndef DYNAMICS_TESTS_FORMULATION_BLOCKS_H
#define DYNAMICS_TESTS_FORMULATION_BLOCKS_H

#include <dynamics/formulation.h>

/* Motion of a model. v or a NULL: zeros. gravity NULL: the gravity of the model. */
typedef struct motion_of_model {
    const dyn_model *model;
    const double *gravity, *q, *v, *a;
} motion_of_model;

/* Returns the values of the block with this name. Fails the test if there is none or if it has not `count` numbers. */
const double *find_block(const dyn_formulation_block *blocks, int block_count, const char *name, size_t count);

/* Computes the blocks of a formulation for the motion x and copies the block `name`, of `count` numbers, to `out`. */
void evaluate_block(const char *formulation, const motion_of_model *x, const char *name, size_t count, double *out);

#endif
