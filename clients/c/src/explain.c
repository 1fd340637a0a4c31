/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Requests explanations: the contributions of terms, links and payloads to the generalized forces.
 */
#include "requests.h"

#include <stdlib.h>

#include "error.h"
#include "query.h"

/* Public result, with the reply that owns its strings and numbers, and the arrays that the result refers to. */
typedef struct explanation_result {
    dyn_client_explanation explanation;
    Dynamics__V1__ExplainReply *reply;
    dyn_client_passive_forces counted;
    dyn_client_motion_agreement agreement;
    dyn_client_term *terms;
    dyn_client_contribution *links, *payloads;
} explanation_result;

/* Converts the terms, links and payloads of the reply. Returns false if an array does not have nv entries. */
static bool read_parts(explanation_result *result) {
    const Dynamics__V1__ExplainReply *reply = result->reply;
    size_t nv = reply->nv;
    bool fits = reply->n_joints == nv && reply->n_units == nv && reply->n_tau == nv;
    for (size_t i = 0; i < reply->n_terms; i++) {
        result->terms[i] = (dyn_client_term){.name = reply->terms[i]->name, .tau = reply->terms[i]->tau};
        fits = fits && reply->terms[i]->n_tau == nv;
    }
    for (size_t i = 0; i < reply->n_links; i++) {
        const Dynamics__V1__LinkContribution *from = reply->links[i];
        result->links[i] = (dyn_client_contribution){.link = from->link,
                                                     .moving_joint = from->moving_joint,
                                                     .mass = from->mass,
                                                     .inertial = from->inertial,
                                                     .coriolis = from->coriolis,
                                                     .gravity = from->gravity};
        fits = fits && from->n_inertial == nv && from->n_coriolis == nv && from->n_gravity == nv;
    }
    for (size_t i = 0; i < reply->n_payloads; i++) {
        const Dynamics__V1__PayloadContribution *from = reply->payloads[i];
        result->payloads[i] = (dyn_client_contribution){.link = from->link,
                                                        .moving_joint = from->moving_joint,
                                                        .mass = from->mass,
                                                        .inertial = from->inertial,
                                                        .coriolis = from->coriolis,
                                                        .gravity = from->gravity};
        fits = fits && from->n_inertial == nv && from->n_coriolis == nv && from->n_gravity == nv;
    }
    return fits;
}

/* Converts the agreement of the motion. Returns false if it is not that of one motion. */
static bool read_agreement(explanation_result *result) {
    const Dynamics__V1__MotionAgreement *from = result->reply->agreement;
    if (from && (from->n_ranks != 1 || from->n_freedoms != 1 || from->n_residuals != 1)) {
        return false;
    }
    if (from) {
        result->agreement = (dyn_client_motion_agreement){
            .rank = (size_t)from->ranks[0], .freedom = (size_t)from->freedoms[0], .residual = from->residuals[0]};
    }
    return true;
}

static void free_result(explanation_result *freed) {
    dynamics__v1__explain_reply__free_unpacked(freed->reply, NULL);
    free(freed->terms);
    free(freed->links);
    free(freed->payloads);
    free(freed);
}

/* Converts the reply to the public result, which owns the reply. Frees the reply on failure. */
static dyn_client_status convert_reply(Dynamics__V1__ExplainReply *reply, size_t nv,
                                       dyn_client_explanation **explanation, dyn_client_error *error) {
    explanation_result *result = calloc(1, sizeof *result);
    if (!result) {
        dynamics__v1__explain_reply__free_unpacked(reply, NULL);
        return fail_memory(error);
    }
    result->reply = reply;
    result->terms = calloc(reply->n_terms + 1, sizeof *result->terms);
    result->links = calloc(reply->n_links + 1, sizeof *result->links);
    result->payloads = calloc(reply->n_payloads + 1, sizeof *result->payloads);
    dyn_client_status status = DYN_CLIENT_OK;
    if (!result->terms || !result->links || !result->payloads) {
        status = fail_memory(error);
    } else if (reply->nv != nv || !read_parts(result) || !read_agreement(result)) {
        status = fail_bad_reply(error, "the result does not hold as many values as asked for");
    }
    if (status != DYN_CLIENT_OK) {
        free_result(result);
        return status;
    }
    result->explanation =
        (dyn_client_explanation){.nv = nv,
                                 .joints = (const char *const *)reply->joints,
                                 .units = (const char *const *)reply->units,
                                 .tau = reply->tau,
                                 .term_count = reply->n_terms,
                                 .terms = result->terms,
                                 .link_count = reply->n_links,
                                 .links = result->links,
                                 .payload_count = reply->n_payloads,
                                 .payloads = result->payloads,
                                 .residual = reply->residual,
                                 .counted_passive_forces = to_passive_forces(reply->passive_forces, &result->counted),
                                 .agreement = reply->agreement ? &result->agreement : NULL};
    *explanation = &result->explanation;
    return DYN_CLIENT_OK;
}

/* Sends the request and converts its reply to the public result. */
static dyn_client_status send_request(dyn_client *client, const query_parts *parts, Dynamics__V1__ExplainRequest *body,
                                      dyn_client_explanation **explanation, dyn_client_error *error) {
    Dynamics__V1__ExplainReply *reply;
    dyn_client_status status = request_explain(client, body, parts->terms, &reply, error);
    return status == DYN_CLIENT_OK ? convert_reply(reply, parts->source.nv, explanation, error) : status;
}

dyn_client_status dyn_client_explain(dyn_client *client, const dyn_client_query *query, const double *q,
                                     const double *v, const double *a, dyn_client_explanation **explanation,
                                     dyn_client_error *error) {
    *explanation = NULL;
    query_parts parts;
    dyn_client_status status = query_parts_encode(client, query, q, &parts, error);
    if (status != DYN_CLIENT_OK) {
        return status;
    }
    Dynamics__V1__ExplainRequest body = DYNAMICS__V1__EXPLAIN_REQUEST__INIT;
    body.query = &parts.query;
    body.n_q = parts.q_count;
    body.q = (double *)q;
    body.n_v = v ? parts.v_count : 0;
    body.v = (double *)v;
    body.n_a = a ? parts.v_count : 0;
    body.a = (double *)a;
    status = send_request(client, &parts, &body, explanation, error);
    query_parts_free(&parts);
    return status;
}

void dyn_client_explanation_free(dyn_client_explanation *explanation) {
    if (explanation) {
        free_result((explanation_result *)explanation);
    }
}
