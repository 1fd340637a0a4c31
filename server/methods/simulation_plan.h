/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From what a client asks for to a simulation: for CreateSimulation, for snapshots and for recordings.
 */
#ifndef SERVER_METHODS_SIMULATION_PLAN_H
#define SERVER_METHODS_SIMULATION_PLAN_H

#include "methods/live.h"

/* Checks the request and makes the simulation of a model, which is at rest and in no table; the caller owns a
 * reference. NULL, and `why` filled. */
simulation *plan_simulation(live *l, const Dynamics__V1__CreateSimulationRequest *request, model_entry *entry,
                            refusal *why);

/* The model of a snapshot: that of the store, or the one that is described (NULL: not), which is in no store. The
 * caller owns a reference. NULL, and `why` filled. */
model_entry *plan_restored_model(live *l, const Dynamics__V1__SimulationSnapshot *snapshot,
                                 const Dynamics__V1__ModelDescription *description, refusal *why);

/* Creates a simulation from a snapshot of that model: with its state, input and generator, paused; and computed
 * with the code of the snapshot, where that is there, or with the library's own kernels. */
simulation *plan_restored(live *l, const Dynamics__V1__SimulationSnapshot *snapshot, model_entry *entry, refusal *why);

/* Puts the state, input and generator of a snapshot into a simulation of the same options. With its mutex. */
bool plan_jump(simulation *s, const Dynamics__V1__SimulationSnapshot *snapshot, refusal *why);

/* Reads an input and sets it; absent parts stay. With the simulation's mutex. `field`: its path in the request. */
bool plan_input(simulation *s, const char *field, const Dynamics__V1__SimulationInput *input, refusal *why);

#endif
