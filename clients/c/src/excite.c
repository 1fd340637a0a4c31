/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Requests exciting motions.
 */
#include <stdlib.h>

#include "error.h"
#include "pool.h"
#include "query.h"
#include "requests.h"
#include "sized.h"

/* Public result, with the reply and the pool that own its strings and arrays. */
typedef struct excite_result {
    dyn_client_excitation excitation;
    Dynamics__V1__ExciteReply *reply;
    pool memory;
} excite_result;

/* Fills the message from the request; strings are borrowed. The terms of drives are copied to `memory`. */
static dyn_client_status write_request(const dyn_client_excite_request *from, pool *memory,
                                       Dynamics__V1__ExciteRequest *to, dyn_client_error *error) {
    Dynamics__V1__DriveTerm *terms = pool_allocate(memory, from->drive_term_count + 1, sizeof *terms);
    if (!terms) {
        return fail_memory(error);
    }
    for (size_t i = 0; i < from->drive_term_count; i++) {
        terms[i] = (Dynamics__V1__DriveTerm)from->drive_terms[i];
    }
    to->criterion = (Dynamics__V1__ExcitationCriterion)from->criterion;
    to->harmonics = to_uint32(from->harmonics);
    to->period = from->period;
    to->rate = from->rate;
    to->optional_margin_case = DYNAMICS__V1__EXCITE_REQUEST__OPTIONAL_MARGIN_MARGIN;
    to->margin = from->margin;
    to->trials = to_uint32(from->trials);
    to->seed = from->seed;
    to->drive_terms = terms, to->n_drive_terms = from->drive_term_count;
    to->ignore_drives = from->ignore_drives;
    to->drives_only = from->drives_only;
    to->friction_velocity = from->friction_velocity;
    to->stribeck_velocity = from->stribeck_velocity;
    to->links = (char **)from->links, to->n_links = from->link_count;
    to->payload_link = from->payload_link ? (char *)from->payload_link : to->payload_link;
    return DYN_CLIENT_OK;
}

/* Converts result->reply to the public result. Returns BAD_REPLY if the reply's arrays do not fit together. */
static dyn_client_status convert_reply(excite_result *result, dyn_client_error *error) {
    const Dynamics__V1__ExciteReply *reply = result->reply;
    size_t rows = reply->n_time, nv = reply->n_uses, nq = rows > 0 ? reply->n_q / rows : 0;
    if (rows == 0 || reply->rows != rows || reply->n_q != rows * nq || reply->n_v != rows * nv ||
        reply->n_a != reply->n_v || reply->n_tau != reply->n_v) {
        return fail_bad_reply(error, "the motion does not hold as many values as it must");
    }
    dyn_client_limit_use *uses = pool_allocate(&result->memory, nv + 1, sizeof *uses);
    if (!uses) {
        return fail_memory(error);
    }
    for (size_t i = 0; i < nv; i++) {
        const Dynamics__V1__LimitUse *from = reply->uses[i];
        uses[i] = (dyn_client_limit_use){from->joint, from->position, from->velocity, from->effort};
    }
    result->excitation = (dyn_client_excitation){.rows = rows,
                                                 .nq = nq,
                                                 .nv = nv,
                                                 .time = reply->time,
                                                 .q = reply->q,
                                                 .v = reply->v,
                                                 .a = reply->a,
                                                 .tau = reply->tau,
                                                 .estimates = reply->estimates,
                                                 .rank = reply->rank,
                                                 .condition = reply->condition,
                                                 .log_determinant = reply->log_determinant,
                                                 .uses = uses,
                                                 .trials = reply->trials};
    return DYN_CLIENT_OK;
}

/* Sends the request and converts its reply. */
static dyn_client_status exchange(dyn_client *client, const dyn_client_query *query,
                                  const dyn_client_excite_request *request, excite_result *result,
                                  dyn_client_error *error) {
    query_parts parts;
    Dynamics__V1__ExciteRequest body = DYNAMICS__V1__EXCITE_REQUEST__INIT;
    dyn_client_status status = query_parts_read(query, &parts, error);
    if (status != DYN_CLIENT_OK) {
        return status;
    }
    body.query = &parts.query;
    status = write_request(request, &result->memory, &body, error);
    if (status == DYN_CLIENT_OK) {
        status = request_excite(client, &body, parts.terms, &result->reply, error);
    }
    query_parts_free(&parts);
    return status == DYN_CLIENT_OK ? convert_reply(result, error) : status;
}

dyn_client_status dyn_client_excite(dyn_client *client, const dyn_client_query *query,
                                    const dyn_client_excite_request *request, dyn_client_excitation **excitation,
                                    dyn_client_error *error) {
    dyn_client_excite_request known = DYN_CLIENT_EXCITE_REQUEST_INIT();
    *excitation = NULL;
    if (!client) {
        return fail(error, DYN_CLIENT_INVALID_ARGUMENT, "client", "client is NULL");
    }
    dyn_client_status status = sized_read("request", request, sizeof known, &known, error);
    if (status != DYN_CLIENT_OK) {
        return status;
    }
    excite_result *result = calloc(1, sizeof *result);
    status = result ? exchange(client, query, &known, result, error) : fail_memory(error);
    if (status == DYN_CLIENT_OK) {
        *excitation = &result->excitation;
    } else if (result) {
        dyn_client_excitation_free(&result->excitation);
    }
    return status;
}

void dyn_client_excitation_free(dyn_client_excitation *excitation) {
    if (!excitation) {
        return;
    }
    excite_result *freed = (excite_result *)excitation;
    if (freed->reply) {
        dynamics__v1__excite_reply__free_unpacked(freed->reply, NULL);
    }
    pool_free(&freed->memory);
    free(freed);
}
