/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages about simulations and streams: fills the protocol's messages from their state.
 *
 * The caller holds the mutex of the simulation or stream. Strings and arrays of a message belong to the object or to
 * the caller, so a message must be packed before the mutex is unlocked; the copies in a call's memory are the
 * exception.
 */
#ifndef SERVER_METHODS_LIVE_MESSAGES_H
#define SERVER_METHODS_LIVE_MESSAGES_H

#include "dynamics/v1/recording.pb-c.h"
#include "methods/call.h"
#include "methods/sessions.h"

/* Converts the condition of a simulation to the protocol's. */
Dynamics__V1__SimulationCondition message_condition(simulation_condition condition);

/* Fills the message with the state of a simulation, in the caller's order of joints. `rows` receives its nq + 2 nv
 * values. Its contacts live until the next step. */
void message_state(const simulation *s, double *rows, Dynamics__V1__SimulationState *state);

/* Memory of the external forces of a simulation as messages. */
typedef struct message_forces {
    Dynamics__V1__ExternalForce *list[STEPPER_FORCES];
    Dynamics__V1__ExternalForce force[STEPPER_FORCES];
    double values[STEPPER_FORCES][6];
} message_forces;

/* Fills the messages of the external forces that act on a simulation. */
void message_external_forces(const simulation *s, message_forces *forces);

/* Memory of the motion of the base of a simulation as a message. */
typedef struct message_base {
    Dynamics__V1__BaseMotion motion;
    double twist[6], acceleration[6];
} message_base;

/* Fills the message of the motion of the base. Returns NULL where no request has set it. */
Dynamics__V1__BaseMotion *message_base_motion(const simulation *s, message_base *base);

/* Fills the message with the complete input of a simulation, which replaces any earlier input. `rows` receives its nq +
 * 3 nv values, `forces` the external forces; NULL leaves them out; `base` the motion of the base. */
void message_input(const simulation *s, double *rows, message_forces *forces, message_base *base,
                   Dynamics__V1__SimulationInput *input);

/* Fills the message with the counters of a stream. */
void message_counters(const stream *s, Dynamics__V1__StreamCounters *counters);

/* Returns an upper bound of the bytes that a recording takes for so many points. `values` is the number of their
 * values, times included. */
size_t message_points_bytes(size_t points, size_t values);

/* Memory of a snapshot. */
typedef struct message_snapshot_parts {
    Dynamics__V1__SimulationSnapshot snapshot;
    Dynamics__V1__SimulationState state;
    Dynamics__V1__SimulationInput input;
    message_forces forces;
    message_base base;
    uint64_t generator[4];
    double *rows;
} message_snapshot_parts;

/* Fills a snapshot of the complete simulation. Returns NULL when out of memory. The caller must call
 * message_snapshot_free in both cases. */
Dynamics__V1__SimulationSnapshot *message_snapshot(const simulation *s, message_snapshot_parts *parts);

/* Frees the memory of a snapshot that message_snapshot filled. */
void message_snapshot_free(message_snapshot_parts *parts);

/* Copies the state of a simulation to the call's memory, where it is valid without the mutex. Returns NULL, and the
 * call has ended, when out of memory. */
Dynamics__V1__SimulationState *message_state_copy(call *c, const simulation *s);

/* Describes a simulation in the call's memory, where it is valid without the mutex. Returns NULL, and the call has
 * ended, when out of memory. */
Dynamics__V1__SimulationSummary *message_summary(call *c, const simulation *s);

/* Describes a stream in the call's memory, where it is valid without the mutex. Returns NULL, and the call has ended,
 * when out of memory. */
Dynamics__V1__StreamSummary *message_stream_summary(call *c, const stream *s);

#endif
