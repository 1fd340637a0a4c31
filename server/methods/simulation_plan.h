/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Creates simulations: from CreateSimulation, from snapshots and from recordings; and reads their inputs. Functions
 * that fail fill a refusal.
 */
#ifndef SERVER_METHODS_SIMULATION_PLAN_H
#define SERVER_METHODS_SIMULATION_PLAN_H

#include "methods/live.h"

/* Checks the request and creates a simulation of a model, paused and in no table. Returns a reference that the caller
 * releases, or NULL on failure. */
simulation *plan_simulation(live *l, const Dynamics__V1__CreateSimulationRequest *request, model_entry *entry,
                            refusal *why);

/* Returns the model of a snapshot: the one in the store, or one built from `description` (NULL: none), which is in no
 * store. Returns a reference that the caller releases, or NULL on failure. */
model_entry *plan_restored_model(live *l, const Dynamics__V1__SimulationSnapshot *snapshot,
                                 const Dynamics__V1__ModelDescription *description, refusal *why);

/* Creates a paused simulation from a snapshot of that model, with its state, input and generator. The compiled code
 * that computed the snapshot computes it if available, otherwise the library's own kernels. Returns NULL on failure. */
simulation *plan_restored(live *l, const Dynamics__V1__SimulationSnapshot *snapshot, model_entry *entry, refusal *why);

/* Loads the state, input and generator of a snapshot into a simulation with the options of the snapshot. Returns false
 * on failure; the simulation may then have changed in part. Called with its mutex held. */
bool plan_jump(simulation *s, const Dynamics__V1__SimulationSnapshot *snapshot, refusal *why);

/* Reads an input and sets it; absent parts do not change. `field` is the path of the input in the request. Returns
 * false on failure; then nothing has changed. Called with the simulation's mutex held. */
bool plan_input(simulation *s, const char *field, const Dynamics__V1__SimulationInput *input, refusal *why);

#endif
