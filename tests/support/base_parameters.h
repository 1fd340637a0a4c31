/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks of base parameters by the stacked regressor: its numerical rank, and its torques.
 */
#ifndef DYNAMICS_TESTS_BASE_PARAMETERS_H
#define DYNAMICS_TESTS_BASE_PARAMETERS_H

#include <dynamics/base_parameters.h>

#include "random.h"

/* Checks that the number of base parameters is the rank of the regressor of torque, stacked for random states. A column
 * counts from a length of 1e-10, where 1 is the largest entry of a column of that kind (mass, first moment, inertia).
 * The rank must be certain: the columns that count are a hundred times as long as the others. `name` is part of the
 * message of a failure. */
void check_base_count(random_source *random, const char *name, const dyn_model *model, const double *gravity,
                      const dyn_base_parameters *grouping);

/* Checks Y_b (B p) = Y p to 1e-10 for random states and random parameters p, which need not be those of a body. Checks
 * that B has ones at the base parameters, too. */
void check_base_torques(random_source *random, const char *name, const dyn_model *model, const double *gravity,
                        const dyn_base_parameters *grouping);

#endif
