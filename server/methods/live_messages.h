/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages about simulations and streams. The caller holds the mutex of the simulation or stream. Strings and arrays of
 * a message belong to the object or to the caller, so a message must be packed before the mutex is unlocked.
 */
#ifndef SERVER_METHODS_LIVE_MESSAGES_H
#define SERVER_METHODS_LIVE_MESSAGES_H

#include "dynamics/v1/recording.pb-c.h"
#include "methods/call.h"
#include "methods/sessions.h"

Dynamics__V1__SimulationCondition message_condition(simulation_condition condition);

/* Fills the state, in the caller's order in `rows`, nq + 2 nv values. */
void message_state(const simulation *s, double *rows, Dynamics__V1__SimulationState *state);

/* External forces as messages. */
typedef struct message_forces {
    Dynamics__V1__ExternalForce *list[STEPPER_FORCES];
    Dynamics__V1__ExternalForce force[STEPPER_FORCES];
    double values[STEPPER_FORCES][6];
} message_forces;

void message_external_forces(const simulation *s, message_forces *forces);

/* Fills the complete input, which replaces any other one, in `rows`, nq + 3 nv values, and `forces`. With `forces` NULL
 * it leaves out the external forces. */
void message_input(const simulation *s, double *rows, message_forces *forces, Dynamics__V1__SimulationInput *input);

void message_counters(const stream *s, Dynamics__V1__StreamCounters *counters);

/* Returns the largest number of bytes that recorded points take, which have so many values, times included. */
size_t message_points_bytes(size_t points, size_t values);

/* Snapshot and its parts. */
typedef struct message_snapshot_parts {
    Dynamics__V1__SimulationSnapshot snapshot;
    Dynamics__V1__SimulationState state;
    Dynamics__V1__SimulationInput input;
    message_forces forces;
    uint64_t generator[4];
    double *rows;
} message_snapshot_parts;

/* Fills a snapshot of the complete simulation. Returns NULL when out of memory. message_snapshot_free frees it in both
 * cases. */
Dynamics__V1__SimulationSnapshot *message_snapshot(const simulation *s, message_snapshot_parts *parts);
void message_snapshot_free(message_snapshot_parts *parts);

/* Copies to the call's memory, which are valid without the mutex. Return NULL, and the call has ended, when out of
 * memory. */
Dynamics__V1__SimulationState *message_state_copy(call *c, const simulation *s);
Dynamics__V1__SimulationSummary *message_summary(call *c, const simulation *s);
Dynamics__V1__StreamSummary *message_stream_summary(call *c, const stream *s);

#endif
