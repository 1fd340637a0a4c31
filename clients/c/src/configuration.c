/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The configuration space of a model.
 */
#include "error.h"
#include "query.h"
#include "values.h"

/* Field numbers of the answers' values. */
enum { CONFIGURATION = 2, TANGENT = 3, DISTANCE = 4 };

#define OPERATION(name) DYNAMICS__V1__CONFIGURATION_OPERATION__CONFIGURATION_OPERATION_##name

/* Operands of an operation. NULL: none. */
typedef struct operands {
    const double *q, *q_1, *v;
    size_t dt_count, s_count;
    const double *dt, *s;
    uint64_t seed;
} operands;

/* Asks for `count` values of the reply's field `number`. `out` is only looked at, where there is no q. */
static dyn_client_status ask(dyn_client *client, const dyn_client_query *query,
                             Dynamics__V1__ConfigurationOperation operation, const operands *from, uint32_t number,
                             dyn_client_error *error, double *out) {
    query_parts parts;
    dyn_client_status status = query_parts_take(client, query, from->q != NULL ? from->q : out, error, &parts);
    if (status != DYN_CLIENT_OK)
        return status;
    Dynamics__V1__ComputeConfigurationsRequest asked = DYNAMICS__V1__COMPUTE_CONFIGURATIONS_REQUEST__INIT;
    asked.query = &parts.query;
    asked.operation = operation;
    asked.n_q = from->q != NULL ? parts.q_count : 0;
    asked.q = (double *)from->q;
    asked.n_q_1 = from->q_1 != NULL ? parts.q_count : 0;
    asked.q_1 = (double *)from->q_1;
    asked.n_v = from->v != NULL ? parts.v_count : 0;
    asked.v = (double *)from->v;
    asked.n_dt = from->dt_count;
    asked.dt = (double *)from->dt;
    asked.n_s = from->s_count;
    asked.s = (double *)from->s;
    asked.samples = from->q == NULL ? query->samples : 0;
    asked.seed = from->seed;
    size_t count = number == CONFIGURATION ? parts.q_count : number == TANGENT ? parts.v_count : query->samples;
    status = call_values(client, DYNAMICS__V1__REQUEST__METHOD_COMPUTE_CONFIGURATIONS, &asked.base, query->timeout,
                         number, count, error, out);
    query_parts_free(&parts);
    return status;
}

/* An input that must be there. */
static dyn_client_status check(const double *values, const char *name, dyn_client_error *error) {
    return values != NULL ? DYN_CLIENT_OK : fail(error, DYN_CLIENT_INVALID_ARGUMENT, name, "%s is NULL", name);
}

dyn_client_status dyn_client_integrate(dyn_client *client, const dyn_client_query *query, const double *q,
                                       const double *v, double dt, dyn_client_error *error, double *q_next) {
    const operands from = {.q = q, .v = v, .dt_count = 1, .dt = &dt};
    dyn_client_status status = check(q, "q", error);
    return status == DYN_CLIENT_OK ? ask(client, query, OPERATION(INTEGRATE), &from, CONFIGURATION, error, q_next)
                                   : status;
}

dyn_client_status dyn_client_difference(dyn_client *client, const dyn_client_query *query, const double *q,
                                        const double *q_1, dyn_client_error *error, double *v) {
    const operands from = {.q = q, .q_1 = q_1};
    dyn_client_status status = check(q, "q", error);
    if (status == DYN_CLIENT_OK)
        status = check(q_1, "q_1", error);
    return status == DYN_CLIENT_OK ? ask(client, query, OPERATION(DIFFERENCE), &from, TANGENT, error, v) : status;
}

dyn_client_status dyn_client_interpolate(dyn_client *client, const dyn_client_query *query, const double *q,
                                         const double *q_1, size_t s_count, const double *s, dyn_client_error *error,
                                         double *between) {
    const operands from = {.q = q, .q_1 = q_1, .s_count = s_count, .s = s};
    dyn_client_status status = check(q, "q", error);
    if (status == DYN_CLIENT_OK)
        status = check(q_1, "q_1", error);
    if (status == DYN_CLIENT_OK)
        status = check(s, "s", error);
    return status == DYN_CLIENT_OK ? ask(client, query, OPERATION(INTERPOLATE), &from, CONFIGURATION, error, between)
                                   : status;
}

dyn_client_status dyn_client_distance(dyn_client *client, const dyn_client_query *query, const double *q,
                                      const double *q_1, dyn_client_error *error, double *distance) {
    const operands from = {.q = q, .q_1 = q_1};
    dyn_client_status status = check(q, "q", error);
    if (status == DYN_CLIENT_OK)
        status = check(q_1, "q_1", error);
    return status == DYN_CLIENT_OK ? ask(client, query, OPERATION(DISTANCE), &from, DISTANCE, error, distance) : status;
}

dyn_client_status dyn_client_normalize(dyn_client *client, const dyn_client_query *query, const double *q,
                                       dyn_client_error *error, double *normalized) {
    const operands from = {.q = q};
    dyn_client_status status = check(q, "q", error);
    return status == DYN_CLIENT_OK ? ask(client, query, OPERATION(NORMALIZE), &from, CONFIGURATION, error, normalized)
                                   : status;
}

dyn_client_status dyn_client_neutral(dyn_client *client, const dyn_client_query *query, dyn_client_error *error,
                                     double *q) {
    return ask(client, query, OPERATION(NEUTRAL), &(operands){0}, CONFIGURATION, error, q);
}

dyn_client_status dyn_client_random(dyn_client *client, const dyn_client_query *query, uint64_t seed,
                                    dyn_client_error *error, double *q) {
    return ask(client, query, OPERATION(RANDOM), &(operands){.seed = seed}, CONFIGURATION, error, q);
}
