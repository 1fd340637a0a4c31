/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Requests inverse and forward dynamics along trajectories.
 */
#include <stdlib.h>
#include <string.h>

#include "requests.h"
#include "error.h"
#include "query.h"
#include "sized.h"
#include "stepping.h"

const char *dyn_client_limit_kind_name(dyn_client_limit_kind kind) {
    static const char *const names[] = {"unspecified", "lower", "upper", "velocity", "effort"};
    return (size_t)kind < sizeof names / sizeof *names ? names[kind] : "unknown";
}

/* Public trajectory, with the reply that owns its arrays, and its list of exceeded limits. */
typedef struct trajectory_result {
    dyn_client_trajectory trajectory;
    ProtobufCMessage *reply;
    dyn_client_excess *excesses;
} trajectory_result;

void dyn_client_trajectory_free(dyn_client_trajectory *freed) {
    trajectory_result *result = (trajectory_result *)freed;
    if (!result) {
        return;
    }
    protobuf_c_message_free_unpacked(result->reply, NULL);
    free(result->excesses);
    free(result);
}

static dyn_client_excess copy_excess(const Dynamics__V1__LimitExcess *from) {
    return (dyn_client_excess){.joint = from->joint,
                               .kind = (dyn_client_limit_kind)from->kind,
                               .limit = from->limit,
                               .value = from->value,
                               .worst_row = from->worst_row,
                               .first_row = from->first_row,
                               .last_row = from->last_row,
                               .rows = from->rows,
                               .worst_time = from->worst_time,
                               .first_time = from->first_time,
                               .last_time = from->last_time};
}

/* Creates a result that owns the reply and lists the exceeded limits. On failure frees the reply, fills `error` and
 * returns NULL. */
static trajectory_result *own(void *reply, size_t count, Dynamics__V1__LimitExcess *const *excesses,
                              dyn_client_error *error) {
    trajectory_result *result = calloc(1, sizeof *result);
    dyn_client_excess *list = calloc(count + 1, sizeof *list);
    if (!result || !list) {
        free(result);
        free(list);
        protobuf_c_message_free_unpacked(reply, NULL);
        fail_memory(error);
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        list[i] = copy_excess(excesses[i]);
    }
    result->reply = reply;
    result->excesses = list;
    result->trajectory.excess_count = count;
    result->trajectory.excesses = list;
    result->trajectory.constraint = "";
    return result;
}

/* Returns the result to the caller if the reply fits the request. Otherwise frees it and returns BAD_REPLY. */
static dyn_client_status return_trajectory(trajectory_result *result, bool fits, dyn_client_trajectory **trajectory,
                                           dyn_client_error *error) {
    if (!fits) {
        dyn_client_trajectory_free(&result->trajectory);
        return fail_bad_reply(error, "the trajectory's arrays are not as long as its rows say");
    }
    *trajectory = &result->trajectory;
    return DYN_CLIENT_OK;
}

/* Fills the message `to` from the wrench at the tip and sets `filled` to the message, or to NULL if `tip` is NULL. */
static dyn_client_status fill_tip(const dyn_client_tip *tip, Dynamics__V1__TipWrench *to,
                                  Dynamics__V1__TipWrench **filled, dyn_client_error *error) {
    dyn_client_tip known;
    const dyn_client_tip *from = &known;
    *filled = NULL;
    if (!tip) {
        return DYN_CLIENT_OK;
    }
    dyn_client_status status = sized_read("tip", tip, sizeof known, &known, error);
    if (status != DYN_CLIENT_OK) {
        return status;
    }
    dynamics__v1__tip_wrench__init(to);
    to->link = (char *)(from->link ? from->link : "");
    to->reference_frame = (Dynamics__V1__ReferenceFrame)from->reference_frame;
    to->n_force = from->force ? 3 * from->rows : 0;
    to->force = (double *)from->force;
    to->n_torque = from->torque ? 3 * from->rows : 0;
    to->torque = (double *)from->torque;
    *filled = to;
    return DYN_CLIENT_OK;
}

static dyn_client_status read_inverse(Dynamics__V1__InverseDynamicsTrajectoryReply *reply,
                                      const dyn_client_query *query, size_t values, dyn_client_trajectory **trajectory,
                                      dyn_client_error *error) {
    trajectory_result *result = own(reply, reply->n_excesses, reply->excesses, error);
    if (!result) {
        return DYN_CLIENT_OUT_OF_MEMORY;
    }
    dyn_client_trajectory *t = &result->trajectory;
    t->rows = reply->rows;
    t->tau = reply->tau;
    t->v = reply->n_v > 0 ? reply->v : NULL;
    t->a = reply->n_a > 0 ? reply->a : NULL;
    t->residuals = reply->agreement ? reply->agreement->residuals : NULL;
    bool fits = reply->rows == query->samples && reply->n_tau == values && (reply->n_v == 0 || reply->n_v == values) &&
                reply->n_a == reply->n_v && (!reply->agreement || reply->agreement->n_residuals == query->samples);
    return return_trajectory(result, fits, trajectory, error);
}

dyn_client_status dyn_client_inverse_dynamics_trajectory(dyn_client *client, const dyn_client_query *query,
                                                         const double *time, const double *q, const double *v,
                                                         const double *a, dyn_client_rates rates,
                                                         const dyn_client_tip *tip, dyn_client_trajectory **trajectory,
                                                         dyn_client_error *error) {
    query_parts parts;
    *trajectory = NULL;
    dyn_client_status status = query_parts_encode(client, query, q, &parts, error);
    if (status != DYN_CLIENT_OK) {
        return status;
    }
    Dynamics__V1__InverseDynamicsTrajectoryRequest body = DYNAMICS__V1__INVERSE_DYNAMICS_TRAJECTORY_REQUEST__INIT;
    Dynamics__V1__InverseDynamicsTrajectoryReply *reply = NULL;
    Dynamics__V1__TipWrench tip_message;
    size_t values = parts.v_count;
    body.query = &parts.query;
    body.n_q = parts.q_count;
    body.q = (double *)q;
    body.n_v = v ? values : 0, body.v = (double *)v;
    body.n_a = a ? values : 0, body.a = (double *)a;
    body.n_time = time ? parts.source.samples : 0, body.time = (double *)time;
    body.rates = (Dynamics__V1__Rates)rates;
    status = fill_tip(tip, &tip_message, &body.tip, error);
    if (status == DYN_CLIENT_OK) {
        status = request_inverse_dynamics_trajectory(client, &body, parts.terms, &reply, error);
    }
    query_parts_free(&parts);
    return status == DYN_CLIENT_OK ? read_inverse(reply, &parts.source, values, trajectory, error) : status;
}

static dyn_client_status read_rates(Dynamics__V1__DeriveRatesReply *reply, const dyn_client_query *query, size_t values,
                                    dyn_client_trajectory **trajectory, dyn_client_error *error) {
    trajectory_result *result = own(reply, reply->n_excesses, reply->excesses, error);
    if (!result) {
        return DYN_CLIENT_OUT_OF_MEMORY;
    }
    dyn_client_trajectory *t = &result->trajectory;
    t->rows = reply->rows;
    t->v = reply->v;
    t->a = reply->a;
    bool fits = reply->rows == query->samples && reply->n_v == values && reply->n_a == values;
    return return_trajectory(result, fits, trajectory, error);
}

dyn_client_status dyn_client_derive_rates(dyn_client *client, const dyn_client_query *query, const double *time,
                                          const double *q, dyn_client_rates rates, dyn_client_trajectory **trajectory,
                                          dyn_client_error *error) {
    query_parts parts;
    *trajectory = NULL;
    dyn_client_status status = query_parts_encode(client, query, q, &parts, error);
    if (status != DYN_CLIENT_OK) {
        return status;
    }
    Dynamics__V1__DeriveRatesRequest body = DYNAMICS__V1__DERIVE_RATES_REQUEST__INIT;
    Dynamics__V1__DeriveRatesReply *reply = NULL;
    size_t values = parts.v_count;
    body.query = &parts.query;
    body.n_q = parts.q_count;
    body.q = (double *)q;
    body.n_time = time ? parts.source.samples : 0, body.time = (double *)time;
    body.rates = (Dynamics__V1__Rates)rates;
    status = request_derive_rates(client, &body, parts.terms, &reply, error);
    query_parts_free(&parts);
    return status == DYN_CLIENT_OK ? read_rates(reply, &parts.source, values, trajectory, error) : status;
}

static dyn_client_status read_forward(Dynamics__V1__ForwardDynamicsTrajectoryReply *reply,
                                      const dyn_client_query *query, size_t rows, dyn_client_trajectory **trajectory,
                                      dyn_client_error *error) {
    trajectory_result *result = own(reply, reply->n_excesses, reply->excesses, error);
    if (!result) {
        return DYN_CLIENT_OUT_OF_MEMORY;
    }
    dyn_client_trajectory *t = &result->trajectory;
    t->rows = reply->rows;
    t->time = reply->time;
    t->q = reply->q;
    t->v = reply->v;
    t->diverged_row = reply->diverged_row;
    t->diverged_joint = reply->diverged_joint;
    t->constraint = reply->constraint;
    t->closure_error = reply->closure_error;
    bool fits = reply->rows == rows && reply->n_time == rows && reply->n_q == rows * query->nq &&
                reply->n_v == rows * query->nv;
    return return_trajectory(result, fits, trajectory, error);
}

dyn_client_status dyn_client_forward_dynamics_trajectory(dyn_client *client, const dyn_client_query *query,
                                                         const double *q, const double *v, size_t rows,
                                                         const double *tau, const dyn_client_tip *tip,
                                                         const dyn_client_stepping *stepping,
                                                         dyn_client_trajectory **trajectory, dyn_client_error *error) {
    query_parts parts;
    size_t count;
    *trajectory = NULL;
    dyn_client_status status = query_parts_encode_rows(client, query, q, rows, &parts, error);
    if (status != DYN_CLIENT_OK) {
        return status;
    }
    Dynamics__V1__ForwardDynamicsTrajectoryRequest body = DYNAMICS__V1__FORWARD_DYNAMICS_TRAJECTORY_REQUEST__INIT;
    Dynamics__V1__ForwardDynamicsTrajectoryReply *reply = NULL;
    Dynamics__V1__TipWrench tip_message;
    stepping_message message;
    if (!tau || !count_doubles(rows, parts.source.nv, &count)) {
        query_parts_free(&parts);
        return fail(error, DYN_CLIENT_INVALID_ARGUMENT, "tau", "tau is NULL or has too many rows");
    }
    body.query = &parts.query;
    body.n_q = parts.q_count;
    body.q = (double *)q;
    body.n_v = v ? parts.v_count : 0, body.v = (double *)v;
    body.n_tau = count, body.tau = (double *)tau;
    status = fill_tip(tip, &tip_message, &body.tip, error);
    if (status == DYN_CLIENT_OK) {
        status = stepping_fill(stepping, &message, &body.stepping, error);
    }
    if (status == DYN_CLIENT_OK) {
        status = request_forward_dynamics_trajectory(client, &body, parts.terms, &reply, error);
    }
    query_parts_free(&parts);
    return status == DYN_CLIENT_OK ? read_forward(reply, &parts.source, rows, trajectory, error) : status;
}
