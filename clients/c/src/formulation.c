/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls the methods formulate and compare, which compute the dynamics by formulations of the literature.
 */
#include "requests.h"

#include <stdlib.h>

#include "error.h"
#include "poses.h"
#include "query.h"
#include "sized.h"

/* ---- method formulate -------------------------------------------------------------------------------------------- */

/* Public result, with the reply that owns its strings and numbers, and the blocks that the result refers to. */
typedef struct formulation_result {
    dyn_client_formulation formulation;
    Dynamics__V1__FormulateReply *reply;
    dyn_client_formulation_block *blocks;
} formulation_result;

/* Converts a block of `samples` states. Returns false if its number of extents is out of range, or if the extents do
 * not match the numbers of values and of axes. */
static bool read_block(const Dynamics__V1__FormulationBlock *from, size_t samples, dyn_client_formulation_block *to) {
    size_t count = samples;
    bool fits = from->n_extents >= 1 && from->n_extents <= DYN_CLIENT_FORMULATION_EXTENTS &&
                (from->n_axes == from->n_extents || from->n_axes == 0);
    *to = (dyn_client_formulation_block){.name = from->name,
                                         .meaning = from->meaning,
                                         .dimensions = from->n_extents,
                                         .values = from->values,
                                         .unit = from->unit,
                                         .frame = from->frame,
                                         .equation = from->equation};
    for (size_t i = 0; fits && i < from->n_extents; i++) {
        to->extents[i] = from->extents[i];
        to->axes[i] = from->n_axes > 0 ? from->axes[i] : "";
        fits = !__builtin_mul_overflow(count, to->extents[i], &count);
    }
    return fits && count == from->n_values;
}

static bool read_formulation(formulation_result *result, size_t samples, size_t nv) {
    const Dynamics__V1__FormulateReply *reply = result->reply;
    bool fits = reply->n_tau == samples * nv;
    for (size_t i = 0; fits && i < reply->n_blocks; i++) {
        fits = read_block(reply->blocks[i], samples, &result->blocks[i]);
    }
    result->formulation = (dyn_client_formulation){.source = reply->source,
                                                   .nv = nv,
                                                   .tau = reply->tau,
                                                   .block_count = reply->n_blocks,
                                                   .blocks = result->blocks,
                                                   .samples = samples};
    return fits;
}

void dyn_client_formulation_free(dyn_client_formulation *formulation) {
    if (formulation) {
        formulation_result *freed = (formulation_result *)formulation;
        dynamics__v1__formulate_reply__free_unpacked(freed->reply, NULL);
        free(freed->blocks);
        free(freed);
    }
}

/* Converts the reply to the public result, which owns the reply. Frees the reply on failure. */
static dyn_client_status convert_formulation(Dynamics__V1__FormulateReply *reply, size_t samples, size_t nv,
                                             dyn_client_formulation **formulation, dyn_client_error *error) {
    formulation_result *result = calloc(1, sizeof *result);
    if (!result) {
        dynamics__v1__formulate_reply__free_unpacked(reply, NULL);
        return fail_memory(error);
    }
    result->reply = reply;
    result->blocks = calloc(reply->n_blocks + 1, sizeof *result->blocks);
    dyn_client_status status = DYN_CLIENT_OK;
    if (!result->blocks) {
        status = fail_memory(error);
    } else if (!read_formulation(result, samples, nv)) {
        status = fail_bad_reply(error, "the result does not hold as many values as asked for");
    }
    if (status != DYN_CLIENT_OK) {
        dyn_client_formulation_free(&result->formulation);
        return status;
    }
    *formulation = &result->formulation;
    return DYN_CLIENT_OK;
}

/* Sends the request of a query with the state (q, v, a), and converts the reply. `body` has the flexible links. */
static dyn_client_status formulate(dyn_client *client, query_parts *parts, const double *const state[3],
                                   Dynamics__V1__FormulateRequest *body, dyn_client_formulation **formulation,
                                   dyn_client_error *error) {
    Dynamics__V1__FormulateReply *reply;
    body->query = &parts->query;
    body->n_q = parts->q_count;
    body->q = (double *)state[0];
    body->n_v = state[1] ? parts->v_count : 0;
    body->v = (double *)state[1];
    body->n_a = state[2] ? parts->v_count : 0;
    body->a = (double *)state[2];
    dyn_client_status status = request_formulate(client, body, parts->terms, &reply, error);
    return status == DYN_CLIENT_OK
               ? convert_formulation(reply, parts->source.samples, parts->source.nv, formulation, error)
               : status;
}

dyn_client_status dyn_client_formulate(dyn_client *client, const dyn_client_query *query, const double *q,
                                       const double *v, const double *a, dyn_client_formulation **formulation,
                                       dyn_client_error *error) {
    *formulation = NULL;
    query_parts parts;
    dyn_client_status status = query_parts_encode(client, query, q, &parts, error);
    if (status != DYN_CLIENT_OK) {
        return status;
    }
    Dynamics__V1__FormulateRequest body = DYNAMICS__V1__FORMULATE_REQUEST__INIT;
    status = formulate(client, &parts, (const double *const[3]){q, v, a}, &body, formulation, error);
    query_parts_free(&parts);
    return status;
}

static void encode_link(pool *memory, const dyn_client_flexible_link *from, Dynamics__V1__FlexibleLink *to) {
    dynamics__v1__flexible_link__init(to);
    to->link = (char *)(from->link ? from->link : "");
    to->start = from_vector3(memory, from->start);
    to->end = from_vector3(memory, from->end);
    to->mass = from->mass;
    to->direction = from_vector3(memory, from->direction);
    to->rigidity = from->rigidity;
    to->transverse_rigidity = from->transverse_rigidity;
    to->modes = to_uint32(from->modes);
}

/* Encodes the links of a chain, and its modes in all samples, in memory of the query's parts. */
static dyn_client_status encode_chain(const dyn_client_flexible_chain *chain, size_t samples, pool *memory,
                                      Dynamics__V1__FormulateRequest *body, dyn_client_error *error) {
    size_t modes = 0;
    if (chain->link_count > 0 && !chain->links) {
        return fail(error, DYN_CLIENT_INVALID_ARGUMENT, "chain.links", "chain.links is NULL");
    }
    body->flexible_links = pool_allocate(memory, chain->link_count + 1, sizeof *body->flexible_links);
    for (size_t i = 0; !memory->is_exhausted && i < chain->link_count; i++) {
        Dynamics__V1__FlexibleLink *made = pool_allocate(memory, 1, sizeof *made);
        if (made) {
            encode_link(memory, &chain->links[i], made);
            body->flexible_links[body->n_flexible_links++] = made;
        }
        modes += (chain->links[i].transverse_rigidity != 0 ? 2 : 1) * chain->links[i].modes;
    }
    modes *= samples;
    body->n_mode_q = chain->mode_q ? modes : 0, body->mode_q = (double *)chain->mode_q;
    body->n_mode_v = chain->mode_v ? modes : 0, body->mode_v = (double *)chain->mode_v;
    body->n_mode_a = chain->mode_a ? modes : 0, body->mode_a = (double *)chain->mode_a;
    body->n_mode_tau = chain->mode_tau ? modes : 0, body->mode_tau = (double *)chain->mode_tau;
    return memory->is_exhausted ? fail_memory(error) : DYN_CLIENT_OK;
}

dyn_client_status dyn_client_formulate_flexible(dyn_client *client, const dyn_client_query *query,
                                                const dyn_client_flexible_chain *chain, const double *q,
                                                const double *v, const double *a, dyn_client_formulation **formulation,
                                                dyn_client_error *error) {
    *formulation = NULL;
    query_parts parts;
    dyn_client_flexible_chain known;
    Dynamics__V1__FormulateRequest body = DYNAMICS__V1__FORMULATE_REQUEST__INIT;
    dyn_client_status status = sized_read("chain", chain, sizeof known, &known, error);
    status = status == DYN_CLIENT_OK ? query_parts_encode(client, query, q, &parts, error) : status;
    if (status != DYN_CLIENT_OK) {
        return status;
    }
    status = encode_chain(&known, parts.source.samples, &parts.memory, &body, error);
    body.n_tau = known.tau ? parts.v_count : 0, body.tau = (double *)known.tau;
    if (status == DYN_CLIENT_OK) {
        status = formulate(client, &parts, (const double *const[3]){q, v, a}, &body, formulation, error);
    }
    query_parts_free(&parts);
    return status;
}

/* ---- method compare ---------------------------------------------------------------------------------------------- */

/* Public result, with the reply that owns its strings and numbers, and the formulations that the result refers to. */
typedef struct comparison_result {
    dyn_client_comparison comparison;
    Dynamics__V1__CompareReply *reply;
    dyn_client_compared_formulation *formulations;
} comparison_result;

/* Converts the cost of a result, and sets *values to its numbers, of which the reply has `sent`, or to NULL where the
 * result is refused. Returns false if the reply lacks the cost, or has not `count` numbers. */
static bool read_result(const Dynamics__V1__FormulationCost *from, dyn_client_formulation_cost *to, size_t count,
                        size_t sent, const double *numbers, const double **values) {
    if (!from) {
        return false;
    }
    bool is_there = from->refusal[0] == '\0';
    *to = (dyn_client_formulation_cost){.is_stated = from->is_stated,
                                        .difference = from->difference,
                                        .time = from->time,
                                        .multiplications = from->multiplications,
                                        .additions = from->additions,
                                        .divisions = from->divisions,
                                        .roots = from->roots,
                                        .sines = from->sines,
                                        .refusal = is_there ? NULL : from->refusal};
    *values = is_there ? numbers : NULL;
    return sent == (is_there ? count : 0);
}

/* Converts the results of one formulation. Returns false if the reply lacks some. */
static bool read_compared(const Dynamics__V1__ComparedFormulation *from, size_t nv,
                          dyn_client_compared_formulation *to) {
    bool applies = from->refusal[0] == '\0';
    *to = (dyn_client_compared_formulation){
        .name = from->name, .source = from->source, .refusal = applies ? NULL : from->refusal};
    return !applies ||
           (read_result(from->inverse_dynamics, &to->inverse_dynamics, nv, from->n_tau, from->tau, &to->tau) &&
            read_result(from->forward_dynamics, &to->forward_dynamics, nv, from->n_a, from->a, &to->a) &&
            read_result(from->mass_matrix, &to->mass_matrix, nv * nv, from->n_mass_matrix_values,
                        from->mass_matrix_values, &to->M));
}

static bool read_comparison(comparison_result *result, size_t nv) {
    const Dynamics__V1__CompareReply *reply = result->reply;
    bool fits = reply->nv == nv;
    for (size_t i = 0; fits && i < reply->n_formulations; i++) {
        fits = read_compared(reply->formulations[i], nv, &result->formulations[i]);
    }
    result->comparison = (dyn_client_comparison){
        .nv = nv, .formulation_count = reply->n_formulations, .formulations = result->formulations};
    return fits;
}

void dyn_client_comparison_free(dyn_client_comparison *comparison) {
    if (comparison) {
        comparison_result *freed = (comparison_result *)comparison;
        dynamics__v1__compare_reply__free_unpacked(freed->reply, NULL);
        free(freed->formulations);
        free(freed);
    }
}

/* Converts the reply to the public result, which owns the reply. Frees the reply on failure. */
static dyn_client_status convert_comparison(Dynamics__V1__CompareReply *reply, size_t nv,
                                            dyn_client_comparison **comparison, dyn_client_error *error) {
    comparison_result *result = calloc(1, sizeof *result);
    if (!result) {
        dynamics__v1__compare_reply__free_unpacked(reply, NULL);
        return fail_memory(error);
    }
    result->reply = reply;
    result->formulations = calloc(reply->n_formulations + 1, sizeof *result->formulations);
    dyn_client_status status = DYN_CLIENT_OK;
    if (!result->formulations) {
        status = fail_memory(error);
    } else if (!read_comparison(result, nv)) {
        status = fail_bad_reply(error, "the result does not hold as many values as asked for");
    }
    if (status != DYN_CLIENT_OK) {
        dyn_client_comparison_free(&result->comparison);
        return status;
    }
    *comparison = &result->comparison;
    return DYN_CLIENT_OK;
}

dyn_client_status dyn_client_compare(dyn_client *client, const dyn_client_query *query, const double *q,
                                     const double *v, const double *a, dyn_client_comparison **comparison,
                                     dyn_client_error *error) {
    *comparison = NULL;
    query_parts parts;
    dyn_client_status status = query_parts_encode(client, query, q, &parts, error);
    if (status != DYN_CLIENT_OK) {
        return status;
    }
    Dynamics__V1__CompareReply *reply;
    Dynamics__V1__CompareRequest body = DYNAMICS__V1__COMPARE_REQUEST__INIT;
    body.query = &parts.query;
    body.n_q = parts.q_count;
    body.q = (double *)q;
    body.n_v = v ? parts.v_count : 0;
    body.v = (double *)v;
    body.n_a = a ? parts.v_count : 0;
    body.a = (double *)a;
    status = request_compare(client, &body, parts.terms, &reply, error);
    if (status == DYN_CLIENT_OK) {
        status = convert_comparison(reply, parts.source.nv, comparison, error);
    }
    query_parts_free(&parts);
    return status;
}
