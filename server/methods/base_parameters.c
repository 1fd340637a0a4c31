/* SPDX-License-Identifier: BSD-2-Clause */
/* FindBaseParameters: computes the combinations of inertial parameters that motion and torques determine. */
#include <dynamics/dynamics.h>
#include <stdlib.h>
#include <string.h>

#include "methods/bounds.h"
#include "methods/link_parameters.h"
#include "methods/methods.h"
#include "methods/query.h"

/* Magnitude up to which a factor of B counts as rounding error, and is left out. */
static const double ROUNDING = 1e-13;

/* Groups the inertial parameters into base parameters, for the gravity of the request. Returns NULL, and the call has
 * ended, on failure. */
static dyn_base_parameters *find_grouping(call *c, const dyn_model *model) {
    const Dynamics__V1__FindBaseParametersRequest *r = c->request->find_base_parameters;
    dyn_base_parameters *grouping = NULL;
    const double *gravity;
    dyn_error error;
    refusal why = {0};
    if (!query_read_gravity(r->query, &c->memory, &gravity, &why)) {
        call_refuse(c, &why);
        return NULL;
    }
    if (dyn_model_joint_count(model) > MOST_BASE_PARAMETER_JOINTS) {
        call_blame(c, "query.model");
        call_fail(c, REASON_MODEL_TOO_LARGE,
                  "the model has %d moving joints; base parameters are found for at most %d: take a part of "
                  "it (DeriveModel)",
                  dyn_model_joint_count(model), MOST_BASE_PARAMETER_JOINTS);
        call_set_limit(c, BOUND_BASE_PARAMETER_JOINTS, MOST_BASE_PARAMETER_JOINTS,
                       (uint64_t)dyn_model_joint_count(model));
        return NULL;
    }
    dyn_status status = dyn_base_parameters_create(model, gravity, &grouping, &error);
    if (status != DYN_OK) {
        call_blame(c, "query.model");
    }
    if (status != DYN_OK && error.site.cause == DYN_CAUSE_TOO_MANY) {
        call_fail(c, REASON_MODEL_TOO_LARGE, "%s", error.message);
        call_set_limit(c, BOUND_COUPLED_BASE_PARAMETER_JOINTS, DYN_BASE_PARAMETER_COUPLED_JOINTS,
                       (uint64_t)dyn_model_joint_count(model));
    } else if (status != DYN_OK) {
        call_fail_library(c, &error);
    }
    return grouping;
}

/* Writes the names of bodies and parameters, and the values of the parameters. */
static void write_parameters(call *c, const dyn_model *model, Dynamics__V1__FindBaseParametersReply *reply) {
    size_t bodies = (size_t)dyn_model_joint_count(model), width = bodies * LINK_PARAMETERS;
    reply->bodies = link_parameter_bodies(c, model);
    reply->parameters = call_allocate(c, LINK_PARAMETERS, sizeof *reply->parameters);
    reply->values = call_allocate(c, width + 1, sizeof *reply->values);
    if (call_has_ended(c)) {
        return;
    }
    for (size_t i = 0; i < LINK_PARAMETERS; i++) {
        reply->parameters[i] = link_parameter_name((uint32_t)i);
    }
    dyn_model_parameters(model, reply->values);
    reply->n_bodies = bodies;
    reply->n_parameters = LINK_PARAMETERS;
    reply->n_values = width;
}

/* Writes a row of B, the factors of one base parameter, without its zeros. */
static void write_row(call *c, size_t width, const double *row, Dynamics__V1__BaseParameter *to) {
    size_t count = 0;
    for (size_t i = 0; i < width; i++) {
        count += row[i] > ROUNDING || row[i] < -ROUNDING;
    }
    to->columns = call_allocate(c, count, sizeof *to->columns);
    to->factors = call_allocate(c, count, sizeof *to->factors);
    if (call_has_ended(c)) {
        return;
    }
    for (size_t i = 0; i < width; i++) {
        if (row[i] > ROUNDING || row[i] < -ROUNDING) {
            to->columns[to->n_columns++] = (uint32_t)i;
            to->factors[to->n_factors++] = row[i];
        }
    }
}

/* Writes the base parameters: the rows of B as their factors, and the numbers of b as their values. */
static void write_rows(call *c, const dyn_base_parameters *grouping, const double *B, const double *b,
                       Dynamics__V1__FindBaseParametersReply *reply) {
    size_t count = (size_t)dyn_base_parameters_count(grouping), width = reply->n_values;
    const int *columns = dyn_base_parameters_columns(grouping);
    Dynamics__V1__BaseParameter *rows = call_allocate(c, count + 1, sizeof *rows);
    reply->base_parameters = call_allocate(c, count + 1, sizeof *reply->base_parameters);
    for (size_t i = 0; !call_has_ended(c) && i < count; i++) {
        dynamics__v1__base_parameter__init(&rows[i]);
        rows[i].column = (uint32_t)columns[i];
        rows[i].value = b[i];
        rows[i].unit = link_parameter_unit(rows[i].column);
        write_row(c, width, B + i * width, &rows[i]);
        reply->base_parameters[reply->n_base_parameters++] = &rows[i];
    }
}

static void answer(call *c, const dyn_model *model, const dyn_base_parameters *grouping) {
    size_t count = (size_t)dyn_base_parameters_count(grouping), width = (size_t)dyn_model_parameter_count(model);
    Dynamics__V1__FindBaseParametersReply *reply = create_find_base_parameters_reply(c);
    double *B = calloc(count * width + 1, sizeof *B), *b = calloc(count + 1, sizeof *b);
    dyn_error error;
    if (!reply || !B || !b) {
        call_fail_memory(c);
        goto cleanup;
    }
    write_parameters(c, model, reply);
    if (call_has_ended(c) || call_is_late(c) || call_is_cancelled(c)) {
        goto cleanup;
    }
    if (dyn_base_parameters_matrix(grouping, B, &error) != DYN_OK ||
        dyn_base_parameters_reduce(grouping, reply->values, b, &error) != DYN_OK) {
        call_fail_memory(c);
        goto cleanup;
    }
    write_rows(c, grouping, B, b, reply);
cleanup:
    free(B);
    free(b);
}

void method_find_base_parameters(call *c) {
    const Dynamics__V1__Query *query = c->request->find_base_parameters->query;
    model_entry *entry = query_find_model(c, query, QUERY_GRAVITY);
    if (!entry) {
        return;
    }
    dyn_base_parameters *grouping = find_grouping(c, entry->model);
    if (grouping) {
        answer(c, entry->model, grouping);
    }
    dyn_base_parameters_free(grouping);
    model_entry_release(entry);
}
