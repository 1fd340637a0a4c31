/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Requests identifications: inertial parameters and friction from recorded motion.
 */
#include <stdlib.h>

#include "descriptions.h"
#include "error.h"
#include "pool.h"
#include "query.h"
#include "requests.h"
#include "sized.h"

/* Public result, with the reply and the pool that own its strings and arrays. */
typedef struct identify_result {
    dyn_client_identification identification;
    Dynamics__V1__IdentifyReply *reply;
    pool memory;
} identify_result;

/* ---- request ----------------------------------------------------------------------------------------------------- */

/* Fills the message from the request; arrays are borrowed. The terms of drives are copied to `memory`. */
static dyn_client_status write_request(const dyn_client_identify_request *from, const query_parts *parts, pool *memory,
                                       Dynamics__V1__IdentifyRequest *to, dyn_client_error *error) {
    size_t nv = parts->source.nv;
    Dynamics__V1__DriveTerm *terms = pool_allocate(memory, from->drive_term_count + 1, sizeof *terms);
    if (!terms) {
        return fail_memory(error);
    }
    for (size_t i = 0; i < from->drive_term_count; i++) {
        terms[i] = (Dynamics__V1__DriveTerm)from->drive_terms[i];
    }
    to->q = (double *)from->q, to->n_q = parts->q_count;
    to->time = (double *)from->time, to->n_time = from->time ? parts->source.samples : 0;
    to->v = (double *)from->v, to->n_v = from->v ? parts->v_count : 0;
    to->a = (double *)from->a, to->n_a = from->a ? parts->v_count : 0;
    to->tau = (double *)from->tau, to->n_tau = from->tau ? parts->v_count : 0;
    to->gains = (double *)from->gains, to->n_gains = from->gains ? nv : 0;
    to->cutoff = from->cutoff;
    to->torque_cutoff = from->torque_cutoff;
    to->estimator = (Dynamics__V1__Estimator)from->estimator;
    to->drive_terms = terms, to->n_drive_terms = from->drive_term_count;
    to->ignore_drives = from->ignore_drives;
    to->drives_only = from->drives_only;
    to->friction_velocity = from->friction_velocity;
    to->stribeck_velocity = from->stribeck_velocity;
    to->estimate_gains = from->estimate_gains;
    to->prior = from->prior;
    to->links = (char **)from->links, to->n_links = from->link_count;
    to->payload_link = from->payload_link ? (char *)from->payload_link : to->payload_link;
    to->load = (double *)from->load, to->n_load = from->load ? parts->source.samples : 0;
    to->optional_folds_case = DYNAMICS__V1__IDENTIFY_REQUEST__OPTIONAL_FOLDS_FOLDS;
    to->folds = to_uint32(from->folds);
    return DYN_CLIENT_OK;
}

/* ---- result ------------------------------------------------------------------------------------------------------ */

static void read_estimate(const Dynamics__V1__LinearEstimate *from, dyn_client_linear_estimate *to) {
    *to = (dyn_client_linear_estimate){.element = from->element,
                                       .parameter = from->parameter,
                                       .column = from->column,
                                       .value = from->value,
                                       .deviation = from->deviation,
                                       .prior = from->prior,
                                       .is_excited = from->is_excited,
                                       .unit = from->unit,
                                       .relative_deviation = from->relative_deviation,
                                       .reason = from->reason};
}

static void read_fit(const Dynamics__V1__JointFit *from, dyn_client_joint_fit *to) {
    *to = (dyn_client_joint_fit){.joint = from->joint,
                                 .lowest = from->lowest,
                                 .highest = from->highest,
                                 .model_error = from->model_error,
                                 .residual = from->residual,
                                 .consistent_residual = from->consistent_residual,
                                 .prediction = from->prediction,
                                 .consistent_prediction = from->consistent_prediction,
                                 .accounted = from->accounted,
                                 .saturated = from->saturated,
                                 .viscous = from->viscous,
                                 .coulomb = from->coulomb,
                                 .offset = from->offset,
                                 .inertia = from->inertia,
                                 .stribeck = from->stribeck,
                                 .load = from->load,
                                 .gain = from->gain,
                                 .gain_deviation = from->gain_deviation};
}

/* Converts result->reply to the public result. Returns BAD_REPLY if the reply's arrays do not fit together. */
static dyn_client_status convert_reply(identify_result *result, size_t nv, dyn_client_error *error) {
    const Dynamics__V1__IdentifyReply *reply = result->reply;
    if (reply->n_parameters != reply->n_bodies * DYN_CLIENT_LINK_PARAMETERS || reply->n_fits != nv ||
        !reply->description) {
        return fail_bad_reply(error, "the identification does not hold as many values as it must");
    }
    dyn_client_linear_estimate *estimates = pool_allocate(&result->memory, reply->n_estimates + 1, sizeof *estimates);
    dyn_client_joint_fit *fits = pool_allocate(&result->memory, nv + 1, sizeof *fits);
    if (!estimates || !fits) {
        return fail_memory(error);
    }
    for (size_t i = 0; i < reply->n_estimates; i++) {
        read_estimate(reply->estimates[i], &estimates[i]);
    }
    for (size_t i = 0; i < nv; i++) {
        read_fit(reply->fits[i], &fits[i]);
    }
    result->identification = (dyn_client_identification){.estimate_count = reply->n_estimates,
                                                         .estimates = estimates,
                                                         .rank = reply->rank,
                                                         .condition = reply->condition,
                                                         .fit_count = nv,
                                                         .fits = fits,
                                                         .body_count = reply->n_bodies,
                                                         .bodies = (const char *const *)reply->bodies,
                                                         .parameters = reply->parameters,
                                                         .replaced_count = reply->n_replaced_priors,
                                                         .replaced_priors = (const char *const *)reply->replaced_priors,
                                                         .iterations = reply->iterations,
                                                         .is_converged = reply->is_converged,
                                                         .has_payload = reply->payload != NULL,
                                                         .payload = to_inertia(reply->payload)};
    return DYN_CLIENT_OK;
}

/* Loads the model with the consistent estimate. */
static dyn_client_status load_model(dyn_client *client, const dyn_client_identify_request *request, call_terms terms,
                                    const identify_result *result, dyn_client_error *error) {
    Dynamics__V1__LoadModelRequest load = DYNAMICS__V1__LOAD_MODEL_REQUEST__INIT;
    Dynamics__V1__LoadModelReply *reply;
    load.name = (char *)request->name;
    load.replace = request->replace;
    load.source_case = DYNAMICS__V1__LOAD_MODEL_REQUEST__SOURCE_DESCRIPTION;
    load.description = result->reply->description;
    dyn_client_status status = request_load_model(client, &load, (call_terms){.timeout = terms.timeout}, &reply, error);
    if (status == DYN_CLIENT_OK) {
        dynamics__v1__load_model_reply__free_unpacked(reply, NULL);
    }
    return status;
}

dyn_client_status dyn_client_identify(dyn_client *client, const dyn_client_query *query,
                                      const dyn_client_identify_request *request,
                                      dyn_client_identification **identification, dyn_client_error *error) {
    query_parts parts;
    dyn_client_identify_request known = DYN_CLIENT_IDENTIFY_REQUEST_INIT();
    Dynamics__V1__IdentifyRequest body = DYNAMICS__V1__IDENTIFY_REQUEST__INIT;
    *identification = NULL;
    dyn_client_status status = sized_read("request", request, sizeof known, &known, error);
    if (status == DYN_CLIENT_OK) {
        status = query_parts_encode(client, query, known.q, &parts, error);
    }
    if (status != DYN_CLIENT_OK) {
        return status;
    }
    identify_result *result = calloc(1, sizeof *result);
    status = result ? write_request(&known, &parts, &result->memory, &body, error) : fail_memory(error);
    if (status == DYN_CLIENT_OK) {
        body.query = &parts.query;
        status = request_identify(client, &body, parts.terms, &result->reply, error);
    }
    if (status == DYN_CLIENT_OK) {
        status = convert_reply(result, parts.source.nv, error);
    }
    if (status == DYN_CLIENT_OK && known.name) {
        status = load_model(client, &known, parts.terms, result, error);
    }
    query_parts_free(&parts);
    if (status == DYN_CLIENT_OK) {
        *identification = &result->identification;
    } else if (result) {
        dyn_client_identification_free(&result->identification);
    }
    return status;
}

void dyn_client_identification_free(dyn_client_identification *identification) {
    if (!identification) {
        return;
    }
    identify_result *freed = (identify_result *)identification;
    if (freed->reply) {
        dynamics__v1__identify_reply__free_unpacked(freed->reply, NULL);
    }
    pool_free(&freed->memory);
    free(freed);
}
