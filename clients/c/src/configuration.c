/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Requests operations on configurations: integrate, difference, interpolate, distance, normalize, neutral and
 * random.
 */
#include "error.h"
#include "query.h"
#include "values.h"

/* Field numbers of the values in ComputeConfigurationsReply. */
enum { CONFIGURATION = 2, TANGENT = 3, DISTANCE = 4 };

#define OPERATION(name) DYNAMICS__V1__COMPUTE_CONFIGURATIONS_REQUEST__OPERATION_##name

/* Operands of an operation. Arrays that the operation does not use are NULL. */
typedef struct operands {
    const double *q, *q_1, *v;
    size_t factor_count;
    const double *factors; /* step lengths of integrate, or parameters s of interpolate */
    uint64_t seed;
} operands;

/* Messages of the operations. A request uses one of them. */
typedef union operation_messages {
    Dynamics__V1__IntegrateConfigurations integrate;
    Dynamics__V1__SubtractConfigurations difference;
    Dynamics__V1__InterpolateConfigurations interpolate;
    Dynamics__V1__MeasureDistances distance;
    Dynamics__V1__NormalizeConfigurations normalize;
    Dynamics__V1__NeutralConfigurations neutral;
    Dynamics__V1__DrawConfigurations random;
} operation_messages;

/* Fills the message of the body's operation, one that has q, and points the body to the message. The message borrows
 * the arrays. */
static void set_operands(const query_parts *parts, const operands *from, operation_messages *to,
                         Dynamics__V1__ComputeConfigurationsRequest *body) {
    double *q = (double *)from->q, *q_1 = (double *)from->q_1, *factors = (double *)from->factors;
    size_t q_count = parts->q_count;
    switch (body->operation_case) {
    case OPERATION(INTEGRATE):
        to->integrate = (Dynamics__V1__IntegrateConfigurations)DYNAMICS__V1__INTEGRATE_CONFIGURATIONS__INIT;
        to->integrate.n_q = q_count, to->integrate.q = q;
        to->integrate.n_v = from->v ? parts->v_count : 0, to->integrate.v = (double *)from->v;
        to->integrate.n_step_length = from->factor_count, to->integrate.step_length = factors;
        break;
    case OPERATION(DIFFERENCE):
        to->difference = (Dynamics__V1__SubtractConfigurations)DYNAMICS__V1__SUBTRACT_CONFIGURATIONS__INIT;
        to->difference.n_q = to->difference.n_q_1 = q_count;
        to->difference.q = q, to->difference.q_1 = q_1;
        break;
    case OPERATION(INTERPOLATE):
        to->interpolate = (Dynamics__V1__InterpolateConfigurations)DYNAMICS__V1__INTERPOLATE_CONFIGURATIONS__INIT;
        to->interpolate.n_q = to->interpolate.n_q_1 = q_count;
        to->interpolate.q = q, to->interpolate.q_1 = q_1;
        to->interpolate.n_s = from->factor_count, to->interpolate.s = factors;
        break;
    case OPERATION(DISTANCE):
        to->distance = (Dynamics__V1__MeasureDistances)DYNAMICS__V1__MEASURE_DISTANCES__INIT;
        to->distance.n_q = to->distance.n_q_1 = q_count;
        to->distance.q = q, to->distance.q_1 = q_1;
        break;
    default:
        to->normalize = (Dynamics__V1__NormalizeConfigurations)DYNAMICS__V1__NORMALIZE_CONFIGURATIONS__INIT;
        to->normalize.n_q = q_count, to->normalize.q = q;
    }
    body->integrate = &to->integrate;
}

/* Fills the message of the body's operation, random or neutral, with the number of samples and, for random, the seed.
 * Points the body to the message. */
static void set_samples(size_t samples, uint64_t seed, operation_messages *to,
                        Dynamics__V1__ComputeConfigurationsRequest *body) {
    if (body->operation_case == OPERATION(RANDOM)) {
        to->random = (Dynamics__V1__DrawConfigurations)DYNAMICS__V1__DRAW_CONFIGURATIONS__INIT;
        to->random.samples = samples;
        to->random.seed = seed;
        body->random = &to->random;
    } else {
        to->neutral = (Dynamics__V1__NeutralConfigurations)DYNAMICS__V1__NEUTRAL_CONFIGURATIONS__INIT;
        to->neutral.samples = samples;
        body->neutral = &to->neutral;
    }
}

/* Sends an operation and copies the values of the reply's field `number` to `out`. If the operation has no q, checks
 * `out` in place of q. */
static dyn_client_status send_request(dyn_client *client, const dyn_client_query *query,
                                      Dynamics__V1__ComputeConfigurationsRequest__OperationCase operation,
                                      const operands *from, uint32_t number, double *out, dyn_client_error *error) {
    query_parts parts;
    operation_messages messages;
    dyn_client_status status = query_parts_encode(client, query, from->q ? from->q : out, &parts, error);
    if (status != DYN_CLIENT_OK) {
        return status;
    }
    Dynamics__V1__ComputeConfigurationsRequest body = DYNAMICS__V1__COMPUTE_CONFIGURATIONS_REQUEST__INIT;
    body.query = &parts.query;
    body.operation_case = operation;
    if (from->q) {
        set_operands(&parts, from, &messages, &body);
    } else {
        set_samples(parts.source.samples, from->seed, &messages, &body);
    }
    size_t count = number == CONFIGURATION ? parts.q_count : number == TANGENT ? parts.v_count : parts.source.samples;
    status = call_values(client, DYNAMICS__V1__REQUEST__METHOD_COMPUTE_CONFIGURATIONS, &body.base, parts.terms, number,
                         count, out, error);
    query_parts_free(&parts);
    return status;
}

/* Returns INVALID_ARGUMENT with the field `name` if a required input is NULL. */
static dyn_client_status check(const double *values, const char *name, dyn_client_error *error) {
    return values ? DYN_CLIENT_OK : fail(error, DYN_CLIENT_INVALID_ARGUMENT, name, "%s is NULL", name);
}

dyn_client_status dyn_client_integrate(dyn_client *client, const dyn_client_query *query, const double *q,
                                       const double *v, double step_length, double *q_next, dyn_client_error *error) {
    const operands from = {.q = q, .v = v, .factor_count = 1, .factors = &step_length};
    dyn_client_status status = check(q, "q", error);
    return status == DYN_CLIENT_OK
               ? send_request(client, query, OPERATION(INTEGRATE), &from, CONFIGURATION, q_next, error)
               : status;
}

dyn_client_status dyn_client_difference(dyn_client *client, const dyn_client_query *query, const double *q,
                                        const double *q_1, double *v, dyn_client_error *error) {
    const operands from = {.q = q, .q_1 = q_1};
    dyn_client_status status = check(q, "q", error);
    if (status == DYN_CLIENT_OK) {
        status = check(q_1, "q_1", error);
    }
    return status == DYN_CLIENT_OK ? send_request(client, query, OPERATION(DIFFERENCE), &from, TANGENT, v, error)
                                   : status;
}

dyn_client_status dyn_client_interpolate(dyn_client *client, const dyn_client_query *query, const double *q,
                                         const double *q_1, size_t s_count, const double *s, double *between,
                                         dyn_client_error *error) {
    const operands from = {.q = q, .q_1 = q_1, .factor_count = s_count, .factors = s};
    dyn_client_status status = check(q, "q", error);
    if (status == DYN_CLIENT_OK) {
        status = check(q_1, "q_1", error);
    }
    if (status == DYN_CLIENT_OK) {
        status = check(s, "s", error);
    }
    return status == DYN_CLIENT_OK
               ? send_request(client, query, OPERATION(INTERPOLATE), &from, CONFIGURATION, between, error)
               : status;
}

dyn_client_status dyn_client_distance(dyn_client *client, const dyn_client_query *query, const double *q,
                                      const double *q_1, double *distance, dyn_client_error *error) {
    const operands from = {.q = q, .q_1 = q_1};
    dyn_client_status status = check(q, "q", error);
    if (status == DYN_CLIENT_OK) {
        status = check(q_1, "q_1", error);
    }
    return status == DYN_CLIENT_OK ? send_request(client, query, OPERATION(DISTANCE), &from, DISTANCE, distance, error)
                                   : status;
}

dyn_client_status dyn_client_normalize(dyn_client *client, const dyn_client_query *query, const double *q,
                                       double *normalized, dyn_client_error *error) {
    const operands from = {.q = q};
    dyn_client_status status = check(q, "q", error);
    return status == DYN_CLIENT_OK
               ? send_request(client, query, OPERATION(NORMALIZE), &from, CONFIGURATION, normalized, error)
               : status;
}

dyn_client_status dyn_client_neutral(dyn_client *client, const dyn_client_query *query, double *q,
                                     dyn_client_error *error) {
    return send_request(client, query, OPERATION(NEUTRAL), &(operands){0}, CONFIGURATION, q, error);
}

dyn_client_status dyn_client_random(dyn_client *client, const dyn_client_query *query, uint64_t seed, double *q,
                                    dyn_client_error *error) {
    return send_request(client, query, OPERATION(RANDOM), &(operands){.seed = seed}, CONFIGURATION, q, error);
}
