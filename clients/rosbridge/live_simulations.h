/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Opens topics for the simulations of the daemon and publishes their events.
 */
#ifndef ROSBRIDGE_LIVE_SIMULATIONS_H
#define ROSBRIDGE_LIVE_SIMULATIONS_H

#include <dynamics/v1/event.pb-c.h>
#include <dynamics/v1/simulation.pb-c.h>

#include "live_simulation.h"

typedef struct live_simulations {
    bridge *bridge;
    event_reader *reader;
    live_object *first;  /* first member of a live_simulation */
    uint64_t generation; /* number of the last list */
    bool is_requesting;
} live_simulations;

/* Opens topics for new simulations of a list, and closes those of simulations that it does not contain. */
void live_simulations_list(live_simulations *of, const Dynamics__V1__ListSimulationsReply *list);

/* Requests the list of simulations. */
void live_simulations_request(live_simulations *of);

/* Watches simulations whose topics are read and stops watching the others. */
void live_simulations_check(live_simulations *checked);

/* Publishes an event of a simulation. Returns false for other events, and for a simulation that is not known. */
bool live_simulations_publish(live_simulations *of, const Dynamics__V1__Event *event);

void live_simulations_stop(live_simulations *stopped);

#endif
