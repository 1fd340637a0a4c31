/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks the public query and encodes it as a protocol message, for all requests that have one. Arrays of numbers
 * and names are borrowed.
 */
#ifndef CLIENT_QUERY_H
#define CLIENT_QUERY_H

#include <dynamics/v1/query.pb-c.h>

#include "call.h"
#include "dynamics_client.h"
#include "pool.h"

/* A query in its public form and as a protocol message. */
typedef struct query_parts {
    dyn_client_query source;   /* copy of the public query, as this library knows it; it outlives query_parts_free */
    call_terms terms;          /* timeout, progress and job of the call, from the query */
    Dynamics__V1__Query query; /* refers to the arrays of the public query and to the members below */
    Dynamics__V1__Vector3 gravity;
    Dynamics__V1__PassiveForces passive_forces;
    Dynamics__V1__BaseMotion base_motion;
    Dynamics__V1__GivenRows rows;
    Dynamics__V1__MotionOptions motion_options;
    pool memory;             /* memory of the messages of payloads and tip constraints */
    size_t q_count, v_count; /* samples x nq, samples x nv */
} query_parts;

/* Encodes the query of a call that has no samples. External forces have one row. The parts must not move while they are
 * in use. On success the caller frees them with query_parts_free. */
dyn_client_status query_parts_read(const dyn_client_query *query, query_parts *parts, dyn_client_error *error);

/* Checks the client, the query and the argument q, and encodes the query. External forces have one row, or one for each
 * sample. The parts must not move while they are in use. On success the caller frees them with query_parts_free. */
dyn_client_status query_parts_encode(dyn_client *client, const dyn_client_query *query, const double *q,
                                     query_parts *parts, dyn_client_error *error);

/* Checks the client, the query and the argument q, and encodes the query of a trajectory of `rows` rows. External
 * forces have one row, or one for each row of the trajectory. The parts must not move while they are in use. On success
 * the caller frees them with query_parts_free. */
dyn_client_status query_parts_encode_rows(dyn_client *client, const dyn_client_query *query, const double *q,
                                          size_t rows, query_parts *parts, dyn_client_error *error);

/* Encodes the query of a rollout of `steps` steps as query_parts_encode does. The motion of the base may also have one
 * row for each step of each sample. */
dyn_client_status query_parts_encode_steps(dyn_client *client, const dyn_client_query *query, const double *q,
                                           size_t steps, query_parts *parts, dyn_client_error *error);

void query_parts_free(query_parts *parts);

/* Fills the message of the motion of a base, which borrows the numbers. */
void base_motion_encode(const dyn_client_base_motion *from, Dynamics__V1__BaseMotion *to);

/* Encodes external forces, each with one row or one for each sample, as messages that borrow the numbers. Stores a list
 * in one block (NULL if there are no forces) that the caller frees. `field` is the path of the forces in errors. */
dyn_client_status external_forces_encode(const char *field, size_t samples, size_t count,
                                         const dyn_client_external_force *forces,
                                         Dynamics__V1__ExternalForce ***headings, dyn_client_error *error);

/* Converts the passive forces that a result counts. Returns `to`, or NULL without them. */
const dyn_client_passive_forces *to_passive_forces(const Dynamics__V1__PassiveForces *from,
                                                   dyn_client_passive_forces *to);

/* Computes a * b. Returns false on overflow of size_t, or of the size in bytes of that many doubles. */
bool count_doubles(size_t a, size_t b, size_t *product);

/* Count as messages state it; UINT32_MAX stands for all larger ones. */
static inline uint32_t to_uint32(size_t count) {
    return count < UINT32_MAX ? (uint32_t)count : UINT32_MAX;
}

#endif
