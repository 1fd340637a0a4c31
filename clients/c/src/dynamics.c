/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Requests inverse and forward dynamics, mass matrices, gravity forces and bias forces.
 */
#include <stdlib.h>

#include "error.h"
#include "query.h"
#include "requests.h"
#include "sized.h"
#include "values.h"

/* Field numbers of the values in the replies of the methods. */
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

/* ---- forward dynamics with constraints --------------------------------------------------------------------------- */

const char *dyn_client_constraint_method_name(dyn_client_constraint_method method) {
    static const char *const names[] = {"none", "full system", "multipliers", "elimination", "articulated bodies"};
    return (size_t)method < sizeof names / sizeof *names ? names[method] : "unknown";
}

typedef struct motion_result {
    dyn_client_constrained_motion motion;
    Dynamics__V1__ForwardDynamicsReply *reply;
} motion_result;

/* Converts a reply to the public result, which owns the reply. Returns BAD_REPLY if the reply's arrays do not have the
 * lengths that the samples and the rows of the constraints require. Frees the reply on failure. */
static dyn_client_status read_motion(Dynamics__V1__ForwardDynamicsReply *reply, const query_parts *parts,
                                     dyn_client_constrained_motion **motion, dyn_client_error *error) {
    const Dynamics__V1__ConstraintSolution *from = reply->constraints;
    size_t n = parts->source.samples, rows = from && n > 0 ? from->n_multipliers / n : 0;
    bool has_solution = !from || (from->n_multipliers == n * rows && from->n_ranks == n && from->n_residuals == n &&
                                  from->n_conditions == n);
    if (reply->n_a != parts->v_count || !has_solution) {
        dynamics__v1__forward_dynamics_reply__free_unpacked(reply, NULL);
        return fail_bad_reply(error, "the result does not hold as many values as its samples need");
    }
    motion_result *result = calloc(1, sizeof *result);
    if (!result) {
        dynamics__v1__forward_dynamics_reply__free_unpacked(reply, NULL);
        return fail_memory(error);
    }
    result->reply = reply;
    result->motion = (dyn_client_constrained_motion){.samples = n, .rows = rows, .a = reply->a};
    if (from) {
        result->motion.method = (dyn_client_constraint_method)from->method;
        result->motion.multipliers = from->multipliers;
        result->motion.residuals = from->residuals;
        result->motion.conditions = from->conditions;
        result->motion.ranks = from->ranks;
    }
    *motion = &result->motion;
    return DYN_CLIENT_OK;
}

dyn_client_status dyn_client_constrained_forward_dynamics(dyn_client *client, const dyn_client_query *query,
                                                          const double *q, const double *v, const double *tau,
                                                          const dyn_client_constraint_options *options,
                                                          dyn_client_constrained_motion **motion,
                                                          dyn_client_error *error) {
    query_parts parts;
    dyn_client_constraint_options chosen = DYN_CLIENT_CONSTRAINT_OPTIONS_INIT();
    *motion = NULL;
    dyn_client_status status = options ? sized_read("options", options, sizeof chosen, &chosen, error) : DYN_CLIENT_OK;
    if (status == DYN_CLIENT_OK) {
        status = query_parts_encode(client, query, q, &parts, error);
    }
    if (status != DYN_CLIENT_OK) {
        return status;
    }
    Dynamics__V1__ForwardDynamicsRequest body = DYNAMICS__V1__FORWARD_DYNAMICS_REQUEST__INIT;
    Dynamics__V1__ForwardDynamicsReply *reply;
    body.query = &parts.query;
    body.n_q = parts.q_count;
    body.q = (double *)q;
    body.n_v = v ? parts.v_count : 0;
    body.v = (double *)v;
    body.n_tau = tau ? parts.v_count : 0;
    body.tau = (double *)tau;
    body.constraint_method = (Dynamics__V1__ConstraintMethod)chosen.method;
    body.constraint_stabilization = chosen.stabilization;
    body.constraint_tolerance = chosen.tolerance;
    status = request_forward_dynamics(client, &body, parts.terms, &reply, error);
    if (status == DYN_CLIENT_OK) {
        status = read_motion(reply, &parts, motion, error);
    }
    query_parts_free(&parts);
    return status;
}

void dyn_client_constrained_motion_free(dyn_client_constrained_motion *motion) {
    if (!motion) {
        return;
    }
    motion_result *result = (motion_result *)motion;
    dynamics__v1__forward_dynamics_reply__free_unpacked(result->reply, NULL);
    free(result);
}
