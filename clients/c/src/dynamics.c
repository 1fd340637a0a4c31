/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Requests inverse and forward dynamics, mass matrices, gravity forces and bias forces.
 */
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "requests.h"
#include "sized.h"
#include "spread.h"
#include "values.h"
#include "wire.h"

/* Field numbers of the values in the replies of the methods; of the agreement of motions, and of its residuals. */
enum { AGREEMENT = 4, RESIDUALS = 3 };
enum { TAU = 2, ACCELERATION = 2, GRAVITY_FORCES = 2, BIAS = 2, MASS_MATRIX = 3 };

/* Inputs and result of a call: q, v, and a or tau. */
typedef struct arrays {
    const double *q, *v, *third;
    double *result;
} arrays;

/* A request for values: the method and its message, the field of the values in the reply, and whether a sample has a
 * matrix of nv x nv instead of a row of nv. */
typedef struct values_call {
    Dynamics__V1__Request__MethodCase method;
    ProtobufCMessage *body;
    uint32_t field;
    bool is_matrix;
} values_call;

/* Requests values and stores them from sample `first` of the result on. */
static dyn_client_status call_samples(dyn_client *client, const query_parts *parts, size_t first,
                                      const values_call *wanted, double *result, dyn_client_error *error) {
    size_t width = parts->source.nv, count = parts->v_count;
    if (wanted->is_matrix && !count_doubles(count, width, &count)) {
        return fail(error, DYN_CLIENT_INVALID_ARGUMENT, "query.samples", "so many matrices are beyond any memory");
    }
    width *= wanted->is_matrix ? width : 1;
    return call_values(client, wanted->method, wanted->body, parts->terms, wanted->field, count,
                       result ? result + first * width : NULL, error);
}

/* Copies the residuals of a serialized reply of inverse dynamics, zeros where the robot has no constraints. Returns
 * false if their number is another one. */
static bool read_residuals(const call_reply *answer, size_t count, double *residuals) {
    wire_reader reader = {.at = answer->result, .end = answer->result + answer->result_size};
    wire_field field;
    memset(residuals, 0, count * sizeof *residuals);
    while (wire_next(&reader, &field)) {
        if (field.number == AGREEMENT) {
            return field.type == WIRE_BYTES && wire_read_doubles(field.bytes, field.size, RESIDUALS, count, residuals);
        }
    }
    return !reader.malformed;
}

/* Requests inverse dynamics with the residuals of the motions. */
static dyn_client_status call_with_residuals(dyn_client *client, const query_parts *parts,
                                             Dynamics__V1__InverseDynamicsRequest *body, double *tau,
                                             dyn_client_error *error) {
    call_reply answer;
    Dynamics__V1__Request request = DYNAMICS__V1__REQUEST__INIT;
    call_set_method(&request, DYNAMICS__V1__REQUEST__METHOD_INVERSE_DYNAMICS, &body->base);
    dyn_client_status status = tau ? call(client, &request, parts->terms, &answer, error)
                                   : fail(error, DYN_CLIENT_INVALID_ARGUMENT, "output", "the output is NULL");
    if (status != DYN_CLIENT_OK) {
        return status;
    }
    if (!wire_read_doubles(answer.result, answer.result_size, TAU, parts->v_count, tau) ||
        !read_residuals(&answer, parts->source.samples, parts->source.motion_options->residuals)) {
        status = fail_bad_reply(error, "the result does not hold as many values as asked for");
    }
    call_reply_free(&answer);
    return status;
}

static dyn_client_status ask_inverse_dynamics(dyn_client *client, const query_parts *parts, size_t first, void *context,
                                              dyn_client_error *error) {
    const arrays *all = context;
    const dyn_client_query *query = &parts->source;
    Dynamics__V1__InverseDynamicsRequest body = DYNAMICS__V1__INVERSE_DYNAMICS_REQUEST__INIT;
    body.query = (Dynamics__V1__Query *)&parts->query;
    body.q = sample_rows(all->q, first, query->nq, query->samples, &body.n_q);
    body.v = sample_rows(all->v, first, query->nv, query->samples, &body.n_v);
    body.a = sample_rows(all->third, first, query->nv, query->samples, &body.n_a);
    if (query->motion_options && query->motion_options->residuals) {
        return call_with_residuals(client, parts, &body, all->result ? all->result + first * query->nv : NULL, error);
    }
    const values_call wanted = {DYNAMICS__V1__REQUEST__METHOD_INVERSE_DYNAMICS, &body.base, TAU, false};
    return call_samples(client, parts, first, &wanted, all->result, error);
}

dyn_client_status dyn_client_inverse_dynamics(dyn_client *client, const dyn_client_query *query, const double *q,
                                              const double *v, const double *a, double *tau, dyn_client_error *error) {
    arrays all = {q, v, a, tau};
    const spread_call call = {query, q, {.rows = 3, .has_matrix = false}, ask_inverse_dynamics, &all, {{NULL, 0}}};
    return spread(client, &call, error);
}

static dyn_client_status ask_forward_dynamics(dyn_client *client, const query_parts *parts, size_t first, void *context,
                                              dyn_client_error *error) {
    const arrays *all = context;
    const dyn_client_query *query = &parts->source;
    Dynamics__V1__ForwardDynamicsRequest body = DYNAMICS__V1__FORWARD_DYNAMICS_REQUEST__INIT;
    body.query = (Dynamics__V1__Query *)&parts->query;
    body.q = sample_rows(all->q, first, query->nq, query->samples, &body.n_q);
    body.v = sample_rows(all->v, first, query->nv, query->samples, &body.n_v);
    body.tau = sample_rows(all->third, first, query->nv, query->samples, &body.n_tau);
    const values_call wanted = {DYNAMICS__V1__REQUEST__METHOD_FORWARD_DYNAMICS, &body.base, ACCELERATION, false};
    return call_samples(client, parts, first, &wanted, all->result, error);
}

dyn_client_status dyn_client_forward_dynamics(dyn_client *client, const dyn_client_query *query, const double *q,
                                              const double *v, const double *tau, double *a, dyn_client_error *error) {
    arrays all = {q, v, tau, a};
    const spread_call call = {query, q, {.rows = 3, .has_matrix = false}, ask_forward_dynamics, &all, {{NULL, 0}}};
    return spread(client, &call, error);
}

static dyn_client_status ask_mass_matrix(dyn_client *client, const query_parts *parts, size_t first, void *context,
                                         dyn_client_error *error) {
    const arrays *all = context;
    const dyn_client_query *query = &parts->source;
    Dynamics__V1__MassMatrixRequest body = DYNAMICS__V1__MASS_MATRIX_REQUEST__INIT;
    body.query = (Dynamics__V1__Query *)&parts->query;
    body.q = sample_rows(all->q, first, query->nq, query->samples, &body.n_q);
    const values_call wanted = {DYNAMICS__V1__REQUEST__METHOD_MASS_MATRIX, &body.base, MASS_MATRIX, true};
    return call_samples(client, parts, first, &wanted, all->result, error);
}

dyn_client_status dyn_client_mass_matrix(dyn_client *client, const dyn_client_query *query, const double *q,
                                         double *mass_matrix, dyn_client_error *error) {
    arrays all = {q, NULL, NULL, mass_matrix};
    const spread_call call = {query, q, {.rows = 1, .has_matrix = true}, ask_mass_matrix, &all, {{NULL, 0}}};
    return spread(client, &call, error);
}

static dyn_client_status ask_gravity(dyn_client *client, const query_parts *parts, size_t first, void *context,
                                     dyn_client_error *error) {
    const arrays *all = context;
    const dyn_client_query *query = &parts->source;
    Dynamics__V1__GravityRequest body = DYNAMICS__V1__GRAVITY_REQUEST__INIT;
    body.query = (Dynamics__V1__Query *)&parts->query;
    body.q = sample_rows(all->q, first, query->nq, query->samples, &body.n_q);
    const values_call wanted = {DYNAMICS__V1__REQUEST__METHOD_GRAVITY, &body.base, GRAVITY_FORCES, false};
    return call_samples(client, parts, first, &wanted, all->result, error);
}

dyn_client_status dyn_client_gravity(dyn_client *client, const dyn_client_query *query, const double *q, double *g,
                                     dyn_client_error *error) {
    arrays all = {q, NULL, NULL, g};
    const spread_call call = {query, q, {.rows = 1, .has_matrix = false}, ask_gravity, &all, {{NULL, 0}}};
    return spread(client, &call, error);
}

static dyn_client_status ask_bias_forces(dyn_client *client, const query_parts *parts, size_t first, void *context,
                                         dyn_client_error *error) {
    const arrays *all = context;
    const dyn_client_query *query = &parts->source;
    Dynamics__V1__BiasForcesRequest body = DYNAMICS__V1__BIAS_FORCES_REQUEST__INIT;
    body.query = (Dynamics__V1__Query *)&parts->query;
    body.q = sample_rows(all->q, first, query->nq, query->samples, &body.n_q);
    body.v = sample_rows(all->v, first, query->nv, query->samples, &body.n_v);
    const values_call wanted = {DYNAMICS__V1__REQUEST__METHOD_BIAS_FORCES, &body.base, BIAS, false};
    return call_samples(client, parts, first, &wanted, all->result, error);
}

dyn_client_status dyn_client_bias_forces(dyn_client *client, const dyn_client_query *query, const double *q,
                                         const double *v, double *h, dyn_client_error *error) {
    arrays all = {q, v, NULL, h};
    const spread_call call = {query, q, {.rows = 2, .has_matrix = false}, ask_bias_forces, &all, {{NULL, 0}}};
    return spread(client, &call, error);
}

/* ---- forward dynamics with constraints --------------------------------------------------------------------------- */

const char *dyn_client_constraint_method_name(dyn_client_constraint_method method) {
    static const char *const names[] = {"none",        "full system",        "multipliers",
                                        "elimination", "articulated bodies", "embedding"};
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
