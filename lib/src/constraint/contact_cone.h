/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Accurate solution of the contacts of one sample, where sweeps converge slowly: many points of one link, or bodies of
 * very different masses.
 */
#ifndef DYNAMICS_CONSTRAINT_CONTACT_CONE_H
#define DYNAMICS_CONSTRAINT_CONTACT_CONE_H

#include <stddef.h>

#include "contact_row.h"

/* Returns the number of doubles of scratch memory for n impulses. */
size_t contact_cone_numbers(size_t n);

/* Computes the impulses (those of the contacts, in the cones of friction, then those of the bounded rows) of a problem
 * whose contacts have impulses, and whose u includes their response. Returns the number of iterations. Allocates
 * nothing. Cost O(n^3), and O(n^2) for each iteration. */
int contact_cone_solve(const contact_problem *problem, int most_iterations, double *memory, double *impulses);

#endif
