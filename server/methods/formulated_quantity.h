/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Quantities of states by a formulation of the literature, in the shapes of the table of quantities.
 */
#ifndef SERVER_METHODS_FORMULATED_QUANTITY_H
#define SERVER_METHODS_FORMULATED_QUANTITY_H

#include <dynamics/formulation.h>

#include "methods/quantities.h"

/* Estimated cost of a state, ns: enough that a worker computes it, since the cost of most formulations grows fast with
 * nv. And states of a block, after which the deadline is checked. */
enum { FORMULATED_STATE_COST = 1000000, FORMULATED_STATES = 8 };

/* Returns whether formulations compute this quantity. */
bool formulated_quantity_is_one(Dynamics__V1__Quantity quantity);

/* Checks that the formulation `name` computes the quantity, which formulations compute: symbols of Christoffel and the
 * Coriolis matrix are coefficients of some of them only. Accepts unknown names, which the library refuses. */
bool formulated_quantity_check(Dynamics__V1__Quantity quantity, const char *name, refusal *why);

/* Refuses losses of gears together with constraints of the tip, of which only the formulation knows the forces. Returns
 * false, and the call has ended, if the query asks for both. */
bool formulated_gear_losses_are_possible(const batch *b);

/* Computes count rows of the quantity for the states `s`. External forces, passive forces, losses of gears and the
 * motion of the base count where they count in the table of quantities. `memory` has count x nv numbers. Constraints of
 * the tip are those of the formulation. */
dyn_status formulated_quantity(const states *s, dyn_formulation *by, Dynamics__V1__Quantity quantity, double *memory,
                               double *out, dyn_error *error);

#endif
