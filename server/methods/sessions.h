/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sessions of simulations and streams: their topics, the joint order of their caller, and their memory. A session is
 * the attachment of its simulation or stream, which frees it.
 */
#ifndef SERVER_METHODS_SESSIONS_H
#define SERVER_METHODS_SESSIONS_H

#include "dynamics/v1/simulation.pb-c.h"
#include "methods/query.h"
#include "methods/recording.h"
#include "methods/robot_values.h"
#include "methods/topic.h"
#include "simulations/stream.h"

/* State of a simulation besides its motion. The simulation's mutex guards `topics` and `recording_error`. */
typedef struct simulation_session {
    watched_topics topics;
    arena memory; /* memory of the robot, the values and the request */
    robot robot;
    query_values values;
    Dynamics__V1__CreateSimulationRequest *request; /* copy of the request, with every default filled in */
    double *rows; /* caller's order: SIMULATION_BATCH rows of nq and twice nv, or one input of nq + 3 nv */
    /* Error that ended the last recording; REASON_NONE: none, or another recording has begun. */
    refusal recording_error;
} simulation_session;

/* State of a stream besides its points. The stream's mutex guards `topics`. */
typedef struct stream_session {
    watched_topics topics;
    arena memory;
    robot robot;
    query_values values;
    double *rows; /* `row_count` rows of nv results in the caller's order */
    size_t row_count;
    refusal recording_error; /* error that ended the recording; REASON_NONE: none. Guarded by the mutex */
} stream_session;

/* Returns the session of a simulation. */
simulation_session *session_of(const simulation *s);

/* Returns the session of a stream. */
stream_session *stream_session_of(const stream *s);

#endif
