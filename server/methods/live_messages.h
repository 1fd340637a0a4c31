/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages about simulations and streams, filled from what lives. The mutex of the simulation or stream is held;
 * strings and arrays are its own, or those that the caller gives, so a message is packed before the mutex is given
 * back.
 */
#ifndef SERVER_METHODS_LIVE_MESSAGES_H
#define SERVER_METHODS_LIVE_MESSAGES_H

#include "methods/call.h"
#include "methods/live.h"

Dynamics__V1__SimulationCondition message_condition(simulation_condition condition);

/* The state, in the caller's order in `rows`, nq + 2 nv values. */
void message_state(const simulation *s, double *rows, Dynamics__V1__SimulationState *state);

/* External forces as messages. */
typedef struct message_forces {
    Dynamics__V1__ExternalForce *list[STEPPER_FORCES];
    Dynamics__V1__ExternalForce force[STEPPER_FORCES];
    double values[STEPPER_FORCES][6];
} message_forces;

void message_external_forces(const simulation *s, message_forces *forces);

/* The input, in `rows`, nq + 3 nv values, and `forces`: all of it, which replaces any other one. With `forces` NULL all
 * but the external forces. */
void message_input(const simulation *s, double *rows, message_forces *forces, Dynamics__V1__SimulationInput *input);

void message_counters(const stream *s, Dynamics__V1__StreamCounters *counters);

/* A snapshot and what it consists of. */
typedef struct message_snapshot_parts {
    Dynamics__V1__SimulationSnapshot snapshot;
    Dynamics__V1__SimulationState state;
    Dynamics__V1__SimulationInput input;
    message_forces forces;
    uint64_t generator[4];
    double *rows;
} message_snapshot_parts;

/* All that the simulation is; NULL when out of memory. Freed by message_snapshot_free either way. */
Dynamics__V1__SimulationSnapshot *message_snapshot(const simulation *s, message_snapshot_parts *parts);
void message_snapshot_free(message_snapshot_parts *parts);

/* Copies in the call's memory, which outlive the mutex; NULL and the call ended when out of memory. */
Dynamics__V1__SimulationState *message_state_copy(call *c, const simulation *s);
Dynamics__V1__SimulationSummary *message_summary(call *c, const simulation *s);
Dynamics__V1__StreamSummary *message_stream_summary(call *c, const stream *s);

#endif
