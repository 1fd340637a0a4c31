/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Requests the base parameters of a model.
 */
#include <stdlib.h>

#include "requests.h"
#include "error.h"
#include "pool.h"
#include "query.h"

/* Public result, with the reply and the pool that own its strings and arrays. */
typedef struct base_parameters_result {
    dyn_client_base_parameters parameters;
    Dynamics__V1__FindBaseParametersReply *reply;
    pool memory;
} base_parameters_result;

/* Returns true if the lengths of the reply's arrays agree and each column is the index of a link parameter. */
static bool is_sound(const Dynamics__V1__FindBaseParametersReply *reply) {
    size_t width = reply->n_bodies * DYN_CLIENT_LINK_PARAMETERS;
    bool fits = reply->n_parameters == DYN_CLIENT_LINK_PARAMETERS && reply->n_values == width;
    for (size_t i = 0; fits && i < reply->n_base_parameters; i++) {
        const Dynamics__V1__BaseParameter *row = reply->base_parameters[i];
        fits = row->column < width && row->n_columns == row->n_factors;
        for (size_t k = 0; fits && k < row->n_columns; k++) {
            fits = row->columns[k] < width;
        }
    }
    return fits;
}

/* Converts result->reply to the public result. Returns BAD_REPLY if the reply's arrays do not fit together. */
static dyn_client_status convert_reply(base_parameters_result *result, dyn_client_error *error) {
    const Dynamics__V1__FindBaseParametersReply *reply = result->reply;
    if (!is_sound(reply)) {
        return fail_bad_reply(error, "the base parameters do not hold as many values as they must");
    }
    dyn_client_base_parameter *rows = pool_allocate(&result->memory, reply->n_base_parameters + 1, sizeof *rows);
    if (!rows) {
        return fail_memory(error);
    }
    for (size_t i = 0; i < reply->n_base_parameters; i++) {
        const Dynamics__V1__BaseParameter *row = reply->base_parameters[i];
        size_t *columns = pool_allocate(&result->memory, row->n_columns, sizeof *columns);
        if (!columns) {
            return fail_memory(error);
        }
        for (size_t k = 0; k < row->n_columns; k++) {
            columns[k] = row->columns[k];
        }
        rows[i] = (dyn_client_base_parameter){.column = row->column,
                                              .value = row->value,
                                              .unit = row->unit,
                                              .term_count = row->n_columns,
                                              .columns = columns,
                                              .factors = row->factors};
    }
    result->parameters = (dyn_client_base_parameters){.body_count = reply->n_bodies,
                                                      .bodies = (const char *const *)reply->bodies,
                                                      .names = (const char *const *)reply->parameters,
                                                      .values = reply->values,
                                                      .count = reply->n_base_parameters,
                                                      .rows = rows};
    return DYN_CLIENT_OK;
}

dyn_client_status dyn_client_find_base_parameters(dyn_client *client, const dyn_client_query *query,
                                                  dyn_client_base_parameters **parameters, dyn_client_error *error) {
    Dynamics__V1__FindBaseParametersRequest body = DYNAMICS__V1__FIND_BASE_PARAMETERS_REQUEST__INIT;
    query_parts parts;
    *parameters = NULL;
    if (!client) {
        return fail(error, DYN_CLIENT_INVALID_ARGUMENT, "client", "client is NULL");
    }
    dyn_client_status status = query_parts_read(query, &parts, error);
    if (status != DYN_CLIENT_OK) {
        return status;
    }
    body.query = &parts.query;
    base_parameters_result *result = calloc(1, sizeof *result);
    status =
        result ? request_find_base_parameters(client, &body, parts.terms, &result->reply, error) : fail_memory(error);
    query_parts_free(&parts);
    if (status == DYN_CLIENT_OK) {
        status = convert_reply(result, error);
    }
    if (status == DYN_CLIENT_OK) {
        *parameters = &result->parameters;
    } else if (result) {
        dyn_client_base_parameters_free(&result->parameters);
    }
    return status;
}

void dyn_client_base_parameters_free(dyn_client_base_parameters *parameters) {
    if (!parameters) {
        return;
    }
    base_parameters_result *freed = (base_parameters_result *)parameters;
    if (freed->reply) {
        dynamics__v1__find_base_parameters_reply__free_unpacked(freed->reply, NULL);
    }
    pool_free(&freed->memory);
    free(freed);
}
