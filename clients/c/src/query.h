/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Encoding of the public query, for all requests that have one. Arrays of numbers and names are not copied.
 */
#ifndef CLIENT_QUERY_H
#define CLIENT_QUERY_H

#include <dynamics/v1/query.pb-c.h>

#include "call.h"
#include "dynamics_client.h"
#include "pool.h"

typedef struct query_parts {
    dyn_client_query source;   /* the public query, in the version of this library; it outlives query_parts_free */
    call_terms terms;          /* of the call, from the query */
    Dynamics__V1__Query query; /* with the arrays of the public query, and the members below */
    Dynamics__V1__Vector3 gravity;
    pool memory;             /* of the payloads */
    size_t q_count, v_count; /* samples x nq, samples x nv */
} query_parts;

/* Reads and encodes the query of a call without samples. External forces have one row. The parts must not move while
 * they are in use. On success the caller frees them with query_parts_free. */
dyn_client_status query_parts_read(const dyn_client_query *query, query_parts *parts, dyn_client_error *error);

/* Checks the query and the argument q, and encodes the query. The parts must not move while they are in use. On success
 * the caller frees them with query_parts_free. */
dyn_client_status query_parts_encode(dyn_client *client, const dyn_client_query *query, const double *q,
                                     query_parts *parts, dyn_client_error *error);

/* Encodes the query of a trajectory. Its external forces have one row for each row of the trajectory. */
dyn_client_status query_parts_encode_rows(dyn_client *client, const dyn_client_query *query, const double *q,
                                          size_t rows, query_parts *parts, dyn_client_error *error);

void query_parts_free(query_parts *parts);

/* Allocates messages of external forces, each with one row or one row a sample, in one block (NULL if there are none)
 * that the caller frees. `field` is the path of the list in error messages. */
dyn_client_status external_forces_encode(const char *field, size_t samples, size_t count,
                                         const dyn_client_external_force *forces,
                                         Dynamics__V1__ExternalForce ***headings, dyn_client_error *error);

/* Computes a * b. Returns false on overflow of size_t, or of the bytes of so many doubles. */
bool count_doubles(size_t a, size_t b, size_t *product);

#endif
