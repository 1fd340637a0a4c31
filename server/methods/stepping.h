/*
 * How a robot moves forward in time: from the wire's Stepping to the library's options.
 */
#ifndef SERVER_METHODS_STEPPING_H
#define SERVER_METHODS_STEPPING_H

#include <dynamics/simulation.h>

#include "methods/batch.h"

/* Fills the options, with defaults where the message (NULL: all of it) is empty. Gains live in the call's memory, in
 * the model's order. False, and the call ended, where something is wrong. */
bool stepping_take(batch *b, const Dynamics__V1__Stepping *m, dyn_simulation_options *options);

/* Creates a simulator; false, and the call ended with the option that is wrong. */
bool stepping_create(batch *b, const dyn_simulation_options *options, dyn_simulator **simulator);

#endif
