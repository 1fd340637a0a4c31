/*
 * From what a client asks for to a simulation: for CreateSimulation, for snapshots and for recordings.
 */
#ifndef SERVER_METHODS_SIMULATION_PLAN_H
#define SERVER_METHODS_SIMULATION_PLAN_H

#include "methods/live.h"

/* Checks the request and makes the simulation, which is at rest and in no table; the caller owns a reference. `digest`
 * (NULL: none) names the model instead of the request's own name for it. NULL, and `why` filled. */
simulation *plan_simulation(live *l, const Dynamics__V1__CreateSimulationRequest *request, const char *digest,
                            refusal *why);

/* The same from a snapshot: with its state, input and generator, paused. */
simulation *plan_restored(live *l, const Dynamics__V1__SimulationSnapshot *snapshot, refusal *why);

/* Puts the state, input and generator of a snapshot into a simulation of the same options. With its mutex. */
bool plan_jump(simulation *s, const Dynamics__V1__SimulationSnapshot *snapshot, refusal *why);

/* Reads an input and sets it; absent parts stay. With the simulation's mutex. `field`: its path in the request. */
bool plan_input(simulation *s, const char *field, const Dynamics__V1__SimulationInput *input, refusal *why);

#endif
