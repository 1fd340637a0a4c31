/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The equation of motion: inverse and forward dynamics, mass matrix, gravity and bias forces.
 */
#include "error.h"
#include "query.h"
#include "values.h"

/* Field numbers of the results' values. */
enum { TAU = 2, ACCELERATION = 2, GRAVITY_FORCES = 2, BIAS = 2, MASS_MATRIX = 3 };

dyn_client_status dyn_client_inverse_dynamics(dyn_client *client, const dyn_client_query *query, const double *q,
                                              const double *v, const double *a, double *tau, dyn_client_error *error) {
    query_parts parts;
    dyn_client_status status = query_parts_encode(client, query, q, &parts, error);
    if (status != DYN_CLIENT_OK) {
        return status;
    }
    Dynamics__V1__InverseDynamicsRequest body = DYNAMICS__V1__INVERSE_DYNAMICS_REQUEST__INIT;
    body.query = &parts.query;
    body.n_q = parts.q_count;
    body.q = (double *)q;
    body.n_v = v ? parts.v_count : 0;
    body.v = (double *)v;
    body.n_a = a ? parts.v_count : 0;
    body.a = (double *)a;
    status = call_values(client, DYNAMICS__V1__REQUEST__METHOD_INVERSE_DYNAMICS, &body.base, parts.terms, TAU,
                         parts.v_count, tau, error);
    query_parts_free(&parts);
    return status;
}

dyn_client_status dyn_client_forward_dynamics(dyn_client *client, const dyn_client_query *query, const double *q,
                                              const double *v, const double *tau, double *a, dyn_client_error *error) {
    query_parts parts;
    dyn_client_status status = query_parts_encode(client, query, q, &parts, error);
    if (status != DYN_CLIENT_OK) {
        return status;
    }
    Dynamics__V1__ForwardDynamicsRequest body = DYNAMICS__V1__FORWARD_DYNAMICS_REQUEST__INIT;
    body.query = &parts.query;
    body.n_q = parts.q_count;
    body.q = (double *)q;
    body.n_v = v ? parts.v_count : 0;
    body.v = (double *)v;
    body.n_tau = tau ? parts.v_count : 0;
    body.tau = (double *)tau;
    status = call_values(client, DYNAMICS__V1__REQUEST__METHOD_FORWARD_DYNAMICS, &body.base, parts.terms, ACCELERATION,
                         parts.v_count, a, error);
    query_parts_free(&parts);
    return status;
}

dyn_client_status dyn_client_mass_matrix(dyn_client *client, const dyn_client_query *query, const double *q,
                                         double *mass_matrix, dyn_client_error *error) {
    query_parts parts;
    dyn_client_status status = query_parts_encode(client, query, q, &parts, error);
    if (status != DYN_CLIENT_OK) {
        return status;
    }
    Dynamics__V1__MassMatrixRequest body = DYNAMICS__V1__MASS_MATRIX_REQUEST__INIT;
    body.query = &parts.query;
    body.n_q = parts.q_count;
    body.q = (double *)q;
    size_t count;
    if (count_doubles(parts.v_count, parts.source.nv, &count)) {
        status = call_values(client, DYNAMICS__V1__REQUEST__METHOD_MASS_MATRIX, &body.base, parts.terms, MASS_MATRIX,
                             count, mass_matrix, error);
    } else {
        status = fail(error, DYN_CLIENT_INVALID_ARGUMENT, "query.samples", "so many matrices are beyond any memory");
    }
    query_parts_free(&parts);
    return status;
}

dyn_client_status dyn_client_gravity(dyn_client *client, const dyn_client_query *query, const double *q, double *g,
                                     dyn_client_error *error) {
    query_parts parts;
    dyn_client_status status = query_parts_encode(client, query, q, &parts, error);
    if (status != DYN_CLIENT_OK) {
        return status;
    }
    Dynamics__V1__GravityRequest body = DYNAMICS__V1__GRAVITY_REQUEST__INIT;
    body.query = &parts.query;
    body.n_q = parts.q_count;
    body.q = (double *)q;
    status = call_values(client, DYNAMICS__V1__REQUEST__METHOD_GRAVITY, &body.base, parts.terms, GRAVITY_FORCES,
                         parts.v_count, g, error);
    query_parts_free(&parts);
    return status;
}

dyn_client_status dyn_client_bias_forces(dyn_client *client, const dyn_client_query *query, const double *q,
                                         const double *v, double *h, dyn_client_error *error) {
    query_parts parts;
    dyn_client_status status = query_parts_encode(client, query, q, &parts, error);
    if (status != DYN_CLIENT_OK) {
        return status;
    }
    Dynamics__V1__BiasForcesRequest body = DYNAMICS__V1__BIAS_FORCES_REQUEST__INIT;
    body.query = &parts.query;
    body.n_q = parts.q_count;
    body.q = (double *)q;
    body.n_v = v ? parts.v_count : 0;
    body.v = (double *)v;
    status = call_values(client, DYNAMICS__V1__REQUEST__METHOD_BIAS_FORCES, &body.base, parts.terms, BIAS,
                         parts.v_count, h, error);
    query_parts_free(&parts);
    return status;
}
