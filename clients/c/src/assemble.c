/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Requests assemblies: configurations that satisfy the constraints of a model.
 */
#include <stdlib.h>

#include "error.h"
#include "query.h"
#include "requests.h"
#include "sized.h"

typedef struct assembly_result {
    dyn_client_assembly assembly;
    Dynamics__V1__AssembleReply *reply;
    dyn_client_assembly_outcome outcomes[];
} assembly_result;

/* Converts a reply to the public result, which owns the reply. Returns BAD_REPLY if the reply does not have a
 * configuration and an outcome for each sample. Frees the reply on failure. */
static dyn_client_status read_reply(Dynamics__V1__AssembleReply *reply, const query_parts *parts,
                                    dyn_client_assembly **assembly, dyn_client_error *error) {
    size_t n = parts->source.samples;
    bool fits = reply->n_q == parts->q_count && reply->n_outcomes == n;
    assembly_result *result = fits ? calloc(1, sizeof *result + n * sizeof *result->outcomes) : NULL;
    if (!result) {
        dynamics__v1__assemble_reply__free_unpacked(reply, NULL);
        return fits ? fail_memory(error)
                    : fail_bad_reply(error, "the result does not hold as many values as asked for");
    }
    result->reply = reply;
    for (size_t i = 0; i < n; i++) {
        const Dynamics__V1__AssemblyOutcome *from = reply->outcomes[i];
        result->outcomes[i] = (dyn_client_assembly_outcome){.is_closed = from->is_closed,
                                                            .iterations = from->iterations,
                                                            .constraint = from->constraint,
                                                            .error = from->error};
    }
    result->assembly = (dyn_client_assembly){.samples = n, .q = reply->q, .outcomes = result->outcomes};
    *assembly = &result->assembly;
    return DYN_CLIENT_OK;
}

dyn_client_status dyn_client_assemble(dyn_client *client, const dyn_client_query *query, const double *q,
                                      const dyn_client_assembly_options *options, dyn_client_assembly **assembly,
                                      dyn_client_error *error) {
    query_parts parts;
    dyn_client_assembly_options chosen = DYN_CLIENT_ASSEMBLY_OPTIONS_INIT();
    *assembly = NULL;
    dyn_client_status status = options ? sized_read("options", options, sizeof chosen, &chosen, error) : DYN_CLIENT_OK;
    if (status == DYN_CLIENT_OK && chosen.iteration_limit > UINT32_MAX) {
        status = fail(error, DYN_CLIENT_INVALID_ARGUMENT, "options.iteration_limit", "the limit is %zu iterations",
                      chosen.iteration_limit);
    }
    if (status == DYN_CLIENT_OK) {
        status = query_parts_encode(client, query, q, &parts, error);
    }
    if (status != DYN_CLIENT_OK) {
        return status;
    }
    Dynamics__V1__AssembleRequest body = DYNAMICS__V1__ASSEMBLE_REQUEST__INIT;
    Dynamics__V1__AssembleReply *reply;
    body.query = &parts.query;
    body.n_q = parts.q_count;
    body.q = (double *)q;
    body.n_held_joints = chosen.held_joints ? chosen.held_count : 0;
    body.held_joints = (char **)chosen.held_joints;
    body.tolerance = chosen.tolerance;
    body.iteration_limit = (uint32_t)chosen.iteration_limit;
    status = request_assemble(client, &body, parts.terms, &reply, error);
    if (status == DYN_CLIENT_OK) {
        status = read_reply(reply, &parts, assembly, error);
    }
    query_parts_free(&parts);
    return status;
}

void dyn_client_assembly_free(dyn_client_assembly *assembly) {
    if (assembly) {
        assembly_result *result = (assembly_result *)assembly;
        dynamics__v1__assemble_reply__free_unpacked(result->reply, NULL);
        free(result);
    }
}
