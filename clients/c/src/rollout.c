/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Requests rollouts: integration of many states forward in time.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "requests.h"
#include "error.h"
#include "sized.h"
#include "spread.h"
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

/* A rollout: the request, its number of samples, and the reply. */
typedef struct rollout_call {
    const dyn_client_rollout_request *request;
    size_t samples;
    joined_reply joined;
} rollout_call;

/* An input of a rollout: its layout, its rows of a sample, the numbers of a row. */
typedef struct input_layout {
    dyn_client_layout layout;
    size_t rows, width;
} input_layout;

/* Points to the values of an input for the samples of `query` from `first` on, and computes their number, 0 if `values`
 * is NULL. Returns false on overflow. */
static bool layout_values(const dyn_client_query *query, size_t first, const input_layout *layout, const double *values,
                          double **rows, size_t *count) {
    bool is_each = layout->layout == DYN_CLIENT_LAYOUT_EACH, is_shared = layout->layout == DYN_CLIENT_LAYOUT_SHARED;
    size_t of_sample, samples = is_shared ? 1 : query->samples;
    *count = 0;
    *rows = NULL;
    if (!values) {
        return true;
    }
    if (!count_doubles(is_each || is_shared ? layout->rows : 1, layout->width, &of_sample) ||
        !count_doubles(samples, of_sample, count)) {
        return false;
    }
    *rows = (double *)values + (is_shared ? 0 : first * of_sample);
    return true;
}

static dyn_client_status fill_inputs(const dyn_client_query *query, size_t first,
                                     const dyn_client_rollout_request *request, Dynamics__V1__RolloutRequest *body,
                                     dyn_client_error *error) {
    size_t steps = request->steps, tau_rows = steps + (request->tau_hold == DYN_CLIENT_HOLD_LINEAR);
    const input_layout tau = {request->tau_layout, tau_rows, query->nv},
                       v_ref = {request->reference_layout, steps, query->nv},
                       q_ref = {request->reference_layout, steps, query->nq};
    if (tau_rows < steps || !layout_values(query, first, &tau, request->tau, &body->tau, &body->n_tau) ||
        !layout_values(query, first, &q_ref, request->q_ref, &body->q_ref, &body->n_q_ref) ||
        !layout_values(query, first, &v_ref, request->v_ref, &body->v_ref, &body->n_v_ref) ||
        !layout_values(query, first, &v_ref, request->a_ref, &body->a_ref, &body->n_a_ref)) {
        return fail(error, DYN_CLIENT_INVALID_ARGUMENT, "steps", "%zu steps of %zu samples are too many", steps,
                    query->samples);
    }
    body->tau_layout = (Dynamics__V1__Layout)request->tau_layout;
    body->reference_layout = (Dynamics__V1__Layout)request->reference_layout;
    body->hold = (Dynamics__V1__Hold)request->tau_hold;
    body->steps = steps;
    body->stride = request->stride;
    body->only_last = request->only_last;
    return DYN_CLIENT_OK;
}

static void fill_question(const query_parts *parts, size_t first, const dyn_client_rollout_request *request,
                          Dynamics__V1__RolloutResult results[5], Dynamics__V1__RolloutRequest *body) {
    size_t samples = parts->source.samples;
    body->query = (Dynamics__V1__Query *)&parts->query;
    body->q = sample_rows(request->q, first, parts->source.nq, samples, &body->n_q);
    body->v = sample_rows(request->v, first, parts->source.nv, samples, &body->n_v);
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

/* ---- joining the replies of pieces ------------------------------------------------------------------------------- */

/* Adds the arrays of a piece with values of each sample to the whole reply, which may be the piece itself. */
static bool join_arrays(Dynamics__V1__RolloutReply *from, sample_range range, Dynamics__V1__RolloutReply *to) {
    const ProtobufCMessageDescriptor *message = &dynamics__v1__rollout_reply__descriptor;
    bool is_joined = from->rows == to->rows;
    for (unsigned i = 0; i < message->n_fields && is_joined; i++) {
        const ProtobufCFieldDescriptor *field = &message->fields[i];
        if (field->label != PROTOBUF_C_LABEL_REPEATED || field->type != PROTOBUF_C_TYPE_DOUBLE ||
            strcmp(field->name, "time") == 0) {
            continue;
        }
        const sample_values own = {(double **)((char *)from + field->offset),
                                   (size_t *)((char *)from + field->quantifier_offset)},
                            all = {(double **)((char *)to + field->offset),
                                   (size_t *)((char *)to + field->quantifier_offset)};
        is_joined = sample_values_join(range, from == to ? NULL : &own, all);
    }
    return is_joined;
}

/* Moves the outcomes of a piece to their place in the whole reply, which may be the piece itself. */
static bool join_outcomes(Dynamics__V1__RolloutReply *from, sample_range range, Dynamics__V1__RolloutReply *to) {
    if (from->n_outcomes != range.count || (from != to && to->n_outcomes != range.all)) {
        return false;
    }
    if (from == to) {
        Dynamics__V1__SampleOutcome **own = from->outcomes;
        to->outcomes = calloc(range.all, sizeof *to->outcomes);
        if (!to->outcomes) {
            to->outcomes = own;
            return false;
        }
        memcpy(to->outcomes + range.first, own, range.count * sizeof *own);
        to->n_outcomes = range.all;
        free(own);
        return true;
    }
    memcpy(to->outcomes + range.first, from->outcomes, range.count * sizeof *to->outcomes);
    from->n_outcomes = 0;
    return true;
}

static bool join(ProtobufCMessage *piece, sample_range range, ProtobufCMessage *all) {
    Dynamics__V1__RolloutReply *from = (Dynamics__V1__RolloutReply *)piece, *to = (Dynamics__V1__RolloutReply *)all;
    to->samples = range.all;
    return join_outcomes(from, range, to) && join_arrays(from, range, to);
}

/* ---- request ----------------------------------------------------------------------------------------------------- */

/* Requests the rollouts of some samples. */
static dyn_client_status ask_rollouts(dyn_client *client, const query_parts *parts, size_t first, void *context,
                                      dyn_client_error *error) {
    rollout_call *call = context;
    const dyn_client_rollout_request *request = call->request;
    const sample_range range = {first, parts->source.samples, call->samples};
    Dynamics__V1__RolloutRequest body = DYNAMICS__V1__ROLLOUT_REQUEST__INIT;
    Dynamics__V1__Accuracy accuracy = DYNAMICS__V1__ACCURACY__INIT;
    Dynamics__V1__RolloutResult results[5];
    Dynamics__V1__RolloutReply *reply = NULL;
    stepping_message stepping;
    fill_question(parts, first, request, results, &body);
    accuracy.relative = request->relative;
    accuracy.absolute = request->absolute;
    body.accuracy = request->is_accurate ? &accuracy : NULL;
    dyn_client_status status = stepping_fill(request->stepping, &stepping, &body.stepping, error);
    if (status == DYN_CLIENT_OK) {
        status = fill_inputs(&parts->source, first, request, &body, error);
    }
    if (status == DYN_CLIENT_OK) {
        status = request_rollout(client, &body, parts->terms, &reply, error);
    }
    return status == DYN_CLIENT_OK ? joined_reply_add(&call->joined, range, &reply->base, error) : status;
}

/* Returns the rows of a sample that the reply or the request has. */
static size_t rows_of(const dyn_client_rollout_request *request) {
    size_t stored = request->only_last ? 1 : request->steps / (request->stride > 0 ? request->stride : 1) + 1;
    size_t sent = request->tau && request->tau_layout == DYN_CLIENT_LAYOUT_EACH ? request->steps : 1;
    return 3 * (stored > sent ? stored : sent);
}

/* Returns the numbers that each sample has in an input. */
static size_t numbers_of(dyn_client_layout layout, size_t rows, size_t width) {
    return layout == DYN_CLIENT_LAYOUT_SHARED ? 0 : (layout == DYN_CLIENT_LAYOUT_EACH ? rows : 1) * width;
}

dyn_client_status dyn_client_rollout_run(dyn_client *client, const dyn_client_query *query,
                                         const dyn_client_rollout_request *request, dyn_client_rollout **rollout,
                                         dyn_client_error *error) {
    dyn_client_rollout_request known;
    dyn_client_query whole;
    *rollout = NULL;
    dyn_client_status status = sized_read("request", request, sizeof known, &known, error);
    if (status == DYN_CLIENT_OK) {
        status = sized_read("query", query, sizeof whole, &whole, error);
    }
    if (status != DYN_CLIENT_OK) {
        return status;
    }
    rollout_call call = {.request = &known, .samples = whole.samples, .joined = {.join = join}};
    size_t tau_rows = known.steps + (known.tau_hold == DYN_CLIENT_HOLD_LINEAR);
    const spread_call asked = {query,
                               known.q,
                               {.rows = rows_of(&known), .steps = known.steps},
                               ask_rollouts,
                               &call,
                               {{"tau", numbers_of(known.tau_layout, tau_rows, whole.nv)},
                                {"q_ref", numbers_of(known.reference_layout, known.steps, whole.nq)},
                                {"v_ref", numbers_of(known.reference_layout, known.steps, whole.nv)},
                                {"a_ref", numbers_of(known.reference_layout, known.steps, whole.nv)}}};
    status = spread_joined(client, &asked, &call.joined, error);
    return status == DYN_CLIENT_OK
               ? convert_reply((Dynamics__V1__RolloutReply *)call.joined.reply, &whole, &known, rollout, error)
               : status;
}
