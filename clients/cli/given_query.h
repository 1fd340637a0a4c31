/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Circumstances of a computation: --gravity, --force, --payload, --precision and --on-error.
 */
#ifndef CLI_GIVEN_QUERY_H
#define CLI_GIVEN_QUERY_H

#include "arguments.h"
#include "given_forces.h"

typedef struct given_query {
    const double *gravity; /* NULL: the model's own */
    given_forces forces;
    size_t payload_count;
    dyn_client_payload *payloads;
    dyn_client_precision precision;
    dyn_client_on_error on_error;
    double gravity_values[3];
    char *payload_links;
} given_query;

/* Reads the options; absent ones have their defaults. Reports errors. The caller frees the result with
 * given_query_free, also after an error. Its address must not change meanwhile. */
exit_code given_query_read(const arguments *given, given_query *result);
void given_query_free(given_query *freed);

/* Sets the members of a query. It refers to the arrays of `asked`. */
void given_query_apply(const given_query *asked, dyn_client_query *query);

/* Reads --gravity. */
exit_code given_gravity_read(const arguments *given, double values[3], const double **gravity);

#endif
