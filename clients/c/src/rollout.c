/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Requests rollouts: integration of many states forward in time.
 */
#include <stdlib.h>
#include <string.h>

#include "requests.h"
#include "error.h"
#include "query.h"
#include "sized.h"
#include "stepping.h"

/* Returns the name of a sample's status. */
const char *dyn_client_sample_status_name(dyn_client_sample_status status) {
    static const char *const names[] = {"unspecified",        "ran",     "not finite", "too fast", "singular",
                                        "rests at its limit", "too long"};
    return (size_t)status < sizeof names / sizeof *names ? names[status] : "unknown";
}

/* Public rollout, with the reply that owns its arrays, and its outcomes. */
typedef struct rollout_result {
    dyn_client_rollout rollout;
    Dynamics__V1__RolloutReply *reply;
    dyn_client_outcome *outcomes;
} rollout_result;

void dyn_client_rollout_free(dyn_client_rollout *freed) {
    rollout_result *result = (rollout_result *)freed;
    if (!result) {
        return;
    }
    dynamics__v1__rollout_reply__free_unpacked(result->reply, NULL);
    free(result->outcomes);
    free(result);
}

/* Points `result` to an array of the reply if the array was requested, otherwise to NULL. Returns false unless the
 * array has `count` values, or none if it was not requested. */
static bool read_array(size_t found, double *values, bool is_wanted, size_t count, const double **result) {
    *result = is_wanted ? values : NULL;
    return found == (is_wanted ? count : 0);
}

/* Points the result to the contacts of the reply, if they were requested. Returns false unless each of the `rows` rows
 * of all samples has the same number of surfaces. */
static bool read_contacts(const Dynamics__V1__RolloutReply *reply, const dyn_client_rollout_request *request,
                          size_t rows, dyn_client_rollout *result) {
    size_t count = reply->n_contact_gaps;
    result->contact_surface_count = rows > 0 ? count / rows : 0;
    return count == result->contact_surface_count * rows && reply->n_contact_forces / 3 == count &&
           reply->n_contact_forces % 3 == 0 &&
           read_array(reply->n_contact_forces, reply->contact_forces, request->with_contacts, reply->n_contact_forces,
                      &result->contact_forces) &&
           read_array(count, reply->contact_gaps, request->with_contacts, count, &result->contact_gaps) &&
           read_array(reply->n_contact_slips, reply->contact_slips, request->with_contacts, count,
                      &result->contact_slips);
}

static bool read_arrays(const Dynamics__V1__RolloutReply *reply, const dyn_client_query *query,
                        const dyn_client_rollout_request *request, dyn_client_rollout *result) {
    size_t rows, q_count, v_count;
    result->samples = reply->samples;
    result->rows = reply->rows;
    result->time = reply->time;
    result->computed_with = reply->computed_with;
    result->constraint_method = (dyn_client_constraint_method)reply->constraint_method;
    return reply->samples == query->samples && reply->n_outcomes == query->samples && reply->n_time == reply->rows &&
           count_doubles(query->samples, reply->rows, &rows) && count_doubles(rows, query->nq, &q_count) &&
           count_doubles(rows, query->nv, &v_count) && read_array(reply->n_q, reply->q, true, q_count, &result->q) &&
           read_array(reply->n_v, reply->v, true, v_count, &result->v) &&
           read_array(reply->n_tau, reply->tau, request->with_tau, v_count, &result->tau) &&
           read_array(reply->n_kinetic_energy, reply->kinetic_energy, request->with_energy, rows, &result->kinetic) &&
           read_array(reply->n_potential_energy, reply->potential_energy, request->with_energy, rows,
                      &result->potential) &&
           read_contacts(reply, request, rows, result);
}

/* Converts the reply to the public result, which owns the reply. Frees the reply on failure. */
static dyn_client_status convert_reply(Dynamics__V1__RolloutReply *reply, const dyn_client_query *query,
                                       const dyn_client_rollout_request *request, dyn_client_rollout **rollout,
                                       dyn_client_error *error) {
    rollout_result *result = calloc(1, sizeof *result);
    dyn_client_outcome *outcomes = calloc(reply->n_outcomes + 1, sizeof *outcomes);
    if (!result || !outcomes) {
        free(result);
        free(outcomes);
        dynamics__v1__rollout_reply__free_unpacked(reply, NULL);
        return fail_memory(error);
    }
    result->reply = reply;
    result->outcomes = outcomes;
    result->rollout.outcomes = outcomes;
    for (size_t i = 0; i < reply->n_outcomes; i++) {
        const Dynamics__V1__SampleOutcome *from = reply->outcomes[i];
        outcomes[i] = (dyn_client_outcome){.status = (dyn_client_sample_status)from->status,
                                           .joint = from->joint,
                                           .steps = from->steps,
                                           .stops = from->stops,
                                           .energy_drift = from->energy_drift,
                                           .constraint = from->constraint,
                                           .closure_error = from->closure_error,
                                           .contact_sweeps = from->contact_sweeps,
                                           .contact_residual = from->contact_residual,
                                           .constraint_rank = from->constraint_rank,
                                           .constraint_residual = from->constraint_residual,
                                           .constraint_condition = from->constraint_condition};
    }
    if (!read_arrays(reply, query, request, &result->rollout)) {
        dyn_client_rollout_free(&result->rollout);
        return fail_bad_reply(error, "the rollout's arrays are not as long as its samples and rows say");
    }
    *rollout = &result->rollout;
    return DYN_CLIENT_OK;
}

/* Computes the number of values of an input, 0 if `values` is NULL. `width` is the number of values of a row. Returns
 * false on overflow. */
static bool layout_values(const dyn_client_query *query, dyn_client_layout layout, size_t steps, size_t width,
                          const double *values, size_t *count) {
    size_t rows = layout == DYN_CLIENT_LAYOUT_CONSTANT ? query->samples : steps;
    *count = 0;
    if (!values) {
        return true;
    }
    return (layout != DYN_CLIENT_LAYOUT_EACH || count_doubles(query->samples, steps, &rows)) &&
           count_doubles(rows, width, count);
}

static dyn_client_status fill_inputs(const dyn_client_query *query, const dyn_client_rollout_request *request,
                                     Dynamics__V1__RolloutRequest *body, dyn_client_error *error) {
    size_t steps = request->steps, tau_rows = steps + (request->tau_hold == DYN_CLIENT_HOLD_LINEAR);
    if (tau_rows < steps ||
        !layout_values(query, request->tau_layout, tau_rows, query->nv, request->tau, &body->n_tau) ||
        !layout_values(query, request->reference_layout, steps, query->nq, request->q_ref, &body->n_q_ref) ||
        !layout_values(query, request->reference_layout, steps, query->nv, request->v_ref, &body->n_v_ref) ||
        !layout_values(query, request->reference_layout, steps, query->nv, request->a_ref, &body->n_a_ref)) {
        return fail(error, DYN_CLIENT_INVALID_ARGUMENT, "steps", "%zu steps of %zu samples are too many", steps,
                    query->samples);
    }
    body->tau = (double *)request->tau;
    body->q_ref = (double *)request->q_ref;
    body->v_ref = (double *)request->v_ref;
    body->a_ref = (double *)request->a_ref;
    body->tau_layout = (Dynamics__V1__Layout)request->tau_layout;
    body->reference_layout = (Dynamics__V1__Layout)request->reference_layout;
    body->hold = (Dynamics__V1__Hold)request->tau_hold;
    body->steps = steps;
    body->stride = request->stride;
    body->only_last = request->only_last;
    return DYN_CLIENT_OK;
}

static void fill_question(const query_parts *parts, const dyn_client_rollout_request *request,
                          Dynamics__V1__RolloutResult results[5], Dynamics__V1__RolloutRequest *body) {
    body->query = (Dynamics__V1__Query *)&parts->query;
    body->n_q = parts->q_count;
    body->q = (double *)request->q;
    body->n_v = request->v ? parts->v_count : 0;
    body->v = (double *)request->v;
    results[body->n_results++] = DYNAMICS__V1__ROLLOUT_RESULT__ROLLOUT_RESULT_Q;
    results[body->n_results++] = DYNAMICS__V1__ROLLOUT_RESULT__ROLLOUT_RESULT_V;
    if (request->with_tau) {
        results[body->n_results++] = DYNAMICS__V1__ROLLOUT_RESULT__ROLLOUT_RESULT_TAU;
    }
    if (request->with_energy) {
        results[body->n_results++] = DYNAMICS__V1__ROLLOUT_RESULT__ROLLOUT_RESULT_ENERGY;
    }
    if (request->with_contacts) {
        results[body->n_results++] = DYNAMICS__V1__ROLLOUT_RESULT__ROLLOUT_RESULT_CONTACTS;
    }
    body->results = results;
}

/* Sends the request and converts its reply to the public result. */
static dyn_client_status send_request(dyn_client *client, const query_parts *parts,
                                      const dyn_client_rollout_request *request, dyn_client_rollout **rollout,
                                      dyn_client_error *error) {
    Dynamics__V1__RolloutRequest body = DYNAMICS__V1__ROLLOUT_REQUEST__INIT;
    Dynamics__V1__Accuracy accuracy = DYNAMICS__V1__ACCURACY__INIT;
    Dynamics__V1__RolloutResult results[5];
    Dynamics__V1__RolloutReply *reply = NULL;
    stepping_message stepping;
    fill_question(parts, request, results, &body);
    accuracy.relative = request->relative;
    accuracy.absolute = request->absolute;
    body.accuracy = request->is_accurate ? &accuracy : NULL;
    dyn_client_status status = stepping_fill(request->stepping, &stepping, &body.stepping, error);
    if (status == DYN_CLIENT_OK) {
        status = fill_inputs(&parts->source, request, &body, error);
    }
    if (status == DYN_CLIENT_OK) {
        status = request_rollout(client, &body, parts->terms, &reply, error);
    }
    return status == DYN_CLIENT_OK ? convert_reply(reply, &parts->source, request, rollout, error) : status;
}

dyn_client_status dyn_client_rollout_run(dyn_client *client, const dyn_client_query *query,
                                         const dyn_client_rollout_request *request, dyn_client_rollout **rollout,
                                         dyn_client_error *error) {
    query_parts parts;
    dyn_client_rollout_request known;
    *rollout = NULL;
    dyn_client_status status = sized_read("request", request, sizeof known, &known, error);
    if (status == DYN_CLIENT_OK) {
        status = query_parts_encode_steps(client, query, known.q, known.steps, &parts, error);
    }
    if (status != DYN_CLIENT_OK) {
        return status;
    }
    status = send_request(client, &parts, &known, rollout, error);
    query_parts_free(&parts);
    return status;
}
