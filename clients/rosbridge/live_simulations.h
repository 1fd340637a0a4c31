/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The simulations of the daemon as topics.
 */
#ifndef ROSBRIDGE_LIVE_SIMULATIONS_H
#define ROSBRIDGE_LIVE_SIMULATIONS_H

#include <dynamics/v1/event.pb-c.h>
#include <dynamics/v1/simulation.pb-c.h>

#include "live_simulation.h"

typedef struct live_simulations {
    bridge *bridge;
    event_reader *reader;
    live_object *first;  /* each the beginning of a live_simulation */
    uint64_t generation; /* of lists of simulations */
    bool is_asking;
} live_simulations;

/* Opens topics of what is new in a list, and closes those of what is not in it any more. */
void live_simulations_list(live_simulations *of, const Dynamics__V1__ListSimulationsReply *list);

/* Asks for the list of simulations. */
void live_simulations_ask(live_simulations *of);

/* Watches simulations whose topics are read, and no longer those whose topics are not. */
void live_simulations_check(live_simulations *checked);

/* An event of a simulation; false: it is of none that is known. */
bool live_simulations_take(live_simulations *of, const Dynamics__V1__Event *event);

void live_simulations_stop(live_simulations *stopped);

#endif
