/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The Query of a request, decoded: the model, the order of joints, gravity, payloads, external forces and precision.
 *
 * Every function ends the call with an error when it fails. Fields of errors begin with "query.".
 */
#ifndef SERVER_METHODS_QUERY_H
#define SERVER_METHODS_QUERY_H

#include "methods/batch.h"

/* Checks that the request has a query, and that it has no parts but those that the method supports. */
bool query_check(call *c, const Dynamics__V1__Query *query, query_parts supported);

/* Finds the model, to which the caller then owns a reference. NULL on failure. */
model_entry *query_find_model(call *c, const Dynamics__V1__Query *query);

/* Reads gravity into the call's memory; NULL: the model's own. */
bool query_read_gravity(call *c, const Dynamics__V1__Query *query, const double **gravity);

/* Reads the order of joints, gravity, payloads and precision into the batch, whose model is open. */
bool query_read(batch *b, const Dynamics__V1__Query *query);

/* Reads the payloads into the batch. */
bool query_read_payloads(batch *b, size_t count, Dynamics__V1__Payload *const *payloads);

/* Reads the external forces into the batch, whose number of rows is known. */
bool query_read_forces(batch *b, const Dynamics__V1__Query *query);

/* Adds one external force to those of the query; at most once in a request. `path`: of its message. */
bool query_add_force(batch *b, const char *path, const Dynamics__V1__ExternalForce *force);

#endif
