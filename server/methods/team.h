/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Team: splits one long computation over the idle threads of the pool, phase by phase, where a phase takes
 * microseconds. Members spin briefly between two phases. The calling thread works too, and never waits for a thread
 * that has not begun.
 */
#ifndef SERVER_METHODS_TEAM_H
#define SERVER_METHODS_TEAM_H

#include <dynamics/formulation.h>

#include "methods/service.h"

/* Least number of parts of a phase that a team splits. */
enum { TEAM_LEAST_PARTS = 16 };

typedef struct team team;

/* Creates a team of at most `members` threads in addition to the calling one. It invites them with the first phase.
 * Returns NULL when out of memory. */
team *team_create(service_submit submit, void *pool, unsigned members);

/* Returns the function of the library that runs phases on the team. */
const dyn_spread *team_spread(team *t);

/* Ends the team. NULL is ignored. */
void team_end(team *t);

#endif
