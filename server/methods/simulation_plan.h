/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Construction of simulations, for CreateSimulation, for snapshots and for recordings.
 */
#ifndef SERVER_METHODS_SIMULATION_PLAN_H
#define SERVER_METHODS_SIMULATION_PLAN_H

#include "methods/live.h"

/* Checks the request and creates a simulation of a model, paused and in no table. The caller owns a reference. Returns
 * NULL, with `why` filled, on failure. */
simulation *plan_simulation(live *l, const Dynamics__V1__CreateSimulationRequest *request, model_entry *entry,
                            refusal *why);

/* Returns the model of a snapshot: the one in the store, or one built from its description (NULL: none), which is in no
 * store. The caller owns a reference. Returns NULL, with `why` filled, on failure. */
model_entry *plan_restored_model(live *l, const Dynamics__V1__SimulationSnapshot *snapshot,
                                 const Dynamics__V1__ModelDescription *description, refusal *why);

/* Creates a paused simulation from a snapshot of that model, with its state, input and generator. The code of the
 * snapshot computes it if available, else the library's own kernels. */
simulation *plan_restored(live *l, const Dynamics__V1__SimulationSnapshot *snapshot, model_entry *entry, refusal *why);

/* Loads the state, input and generator of a snapshot into a simulation of the same options. Called with its mutex
 * held. */
bool plan_jump(simulation *s, const Dynamics__V1__SimulationSnapshot *snapshot, refusal *why);

/* Reads an input and sets it; absent parts do not change. Called with the simulation's mutex held. `field` is its path
 * in the request. */
bool plan_input(simulation *s, const char *field, const Dynamics__V1__SimulationInput *input, refusal *why);

#endif
