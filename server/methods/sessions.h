/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sessions of simulations and streams: their topics, the joint order of their caller, and their memory. A session is
 * the attachment of its simulation or stream.
 */
#ifndef SERVER_METHODS_SESSIONS_H
#define SERVER_METHODS_SESSIONS_H

#include "dynamics/v1/simulation.pb-c.h"
#include "methods/query.h"
#include "methods/recording.h"
#include "methods/robot_values.h"
#include "methods/topic.h"
#include "simulations/stream.h"

/* State of a simulation besides its motion. The simulation's mutex guards `topics`. */
typedef struct simulation_session {
    watched_topics topics;
    arena memory; /* of the robot and the request */
    robot robot;
    query_values values;
    Dynamics__V1__CreateSimulationRequest *request; /* with every default filled in */
    double *rows; /* SIMULATION_BATCH rows of nq and twice nv, in the caller's order */
    /* Error that ended the last recording; REASON_NONE: none, or another recording has begun. Guarded by the mutex. */
    refusal recording_error;
} simulation_session;

typedef struct stream_session {
    watched_topics topics;
    arena memory;
    robot robot;
    query_values values;
    double *rows; /* results in the caller's order */
    size_t row_count;
    refusal recording_error; /* as for a simulation; guarded by the stream's mutex */
} stream_session;

simulation_session *session_of(const simulation *s);
stream_session *stream_session_of(const stream *s);

#endif
