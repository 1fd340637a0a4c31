/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Converts the common parts of numeric requests from the public query to the protocol. Nothing is copied but the
 * headings of the external forces and the payloads.
 */
#ifndef CLIENT_QUERY_H
#define CLIENT_QUERY_H

#include <dynamics/v1/dynamics.pb-c.h>

#include "dynamics_client.h"
#include "pool.h"

typedef struct query_parts {
    char *model;
    size_t joint_count;
    char **joint_names;
    Dynamics__V1__Vector3 gravity_value;
    Dynamics__V1__Vector3 *gravity; /* NULL: the model's own */
    size_t force_count;
    Dynamics__V1__ExternalForce **forces; /* allocated, with what they point to */
    size_t payload_count;
    Dynamics__V1__Payload **payloads; /* in `memory` */
    pool memory;
    Dynamics__V1__Precision precision;
    size_t q_count, v_count; /* samples x nq, samples x nv */
} query_parts;

/* Optional parts of a request, as flags. */
typedef enum parts_taken {
    PARTS_COMMON = 0,
    PARTS_FORCES = 1,    /* external forces */
    PARTS_PRECISION = 2, /* a choice of precision */
    PARTS_ALL = PARTS_FORCES | PARTS_PRECISION,
} parts_taken;

/* Checks the query and the argument q, and gives its parts. The parts' address must not change while they are used.
 * On success they are freed by query_parts_free. */
dyn_client_status query_parts_take(dyn_client *client, const dyn_client_query *query, const double *q,
                                   parts_taken taken, dyn_client_error *error, query_parts *parts);
void query_parts_free(query_parts *parts);

/* Fills those of the fields model, joint_names, q, gravity, external_forces, payloads and precision that the message
 * has. */
void query_parts_fill(const query_parts *parts, const double *q, ProtobufCMessage *asked);

/* Headings over external forces, each of one row or of one a sample, in one block (NULL where there are none) that the
 * caller frees. `field`: path of the list in messages. */
dyn_client_status external_forces_take(const char *field, size_t samples, size_t count,
                                       const dyn_client_external_force *forces, dyn_client_error *error,
                                       Dynamics__V1__ExternalForce ***headings);

/* a * b; false on overflow of size_t, or of the bytes of so many doubles. */
bool count_doubles(size_t a, size_t b, size_t *product);

#endif
