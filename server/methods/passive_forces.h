/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Passive forces that a request counts beside the joint forces.
 */
#ifndef SERVER_METHODS_PASSIVE_FORCES_H
#define SERVER_METHODS_PASSIVE_FORCES_H

#include <dynamics/dynamics.h>

#include "methods/call.h"

/* Transition velocity of a query that states none, rad/s or m/s. */
#define PASSIVE_FRICTION_VELOCITY 0.01

/* Kinds of passive forces, with their names in replies. */
enum { PASSIVE_DAMPING, PASSIVE_FRICTION, PASSIVE_SPRINGS, PASSIVE_KINDS };
extern const char *const passive_names[PASSIVE_KINDS];

/* Returns the parts that consist of one kind, with the transition velocity of `parts` or the default one. */
dyn_passive_parts passive_forces_only(const dyn_passive_parts *parts, int kind);

/* Returns whether a kind is one of `parts`. */
bool passive_forces_include(const dyn_passive_parts *parts, int kind);

/* Returns whether any kind counts. Losses of gears, which depend on the motion, are no kind. */
bool passive_forces_count(const dyn_passive_parts *parts);

/* Adds factor * r(q, v) to tau, count x nv (dyn_add_passive_forces). Does nothing if no part counts. */
dyn_status passive_forces_add(const dyn_model *model, size_t count, const dyn_passive_parts *parts, double factor,
                              const double *q, const double *v, double *tau, dyn_error *error);

/* Writes tau + r(q, v), the joint forces of forward dynamics, to `sum`, count x nv. tau NULL: zeros. */
dyn_status passive_forces_sum(const dyn_model *model, size_t count, const dyn_passive_parts *parts, const double *q,
                              const double *v, const double *tau, double *sum, dyn_error *error);

/* Returns the numbers of memory that the losses of gears of `count` samples need: count x nv of the losses, then
 * dyn_geared_memory. 0: they do not count. */
size_t passive_forces_gear_numbers(const dyn_model *model, const dyn_passive_parts *parts, size_t count);

/* Writes the parts that count. Returns NULL if none does, or when the call has ended. */
Dynamics__V1__PassiveForces *passive_forces_write(call *c, const dyn_passive_parts *parts);

#endif
