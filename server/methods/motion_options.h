/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Motions of models with constraints in inverse dynamics: reads what a query requires of them.
 */
#ifndef SERVER_METHODS_MOTION_OPTIONS_H
#define SERVER_METHODS_MOTION_OPTIONS_H

#include <dynamics/constrained_inverse_dynamics.h>

#include "methods/robot_values.h"

/* Sets the tolerance and the weights of `options` to those of a query for a robot with `rows` rows, its own and those
 * of the query. `wire` NULL: the defaults. Weights are in the memory of the arena. Refuses `wire` where there are no
 * rows. */
bool motion_options_read(const robot *r, size_t rows, const Dynamics__V1__MotionOptions *wire, arena *memory,
                         dyn_constrained_inverse_options *options, refusal *why);

#endif
