/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Requests the evaluation of several quantities, and converts the reply to the public form.
 */
#include "quantities.h"

#include <ctype.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "fast_channel.h"
#include "requests.h"
#include "sized.h"
#include "spread.h"

/* Length of the prefix of the protocol's names of quantities, such as "QUANTITY_MASS_MATRIX". */
enum { PREFIX_LENGTH = sizeof "QUANTITY_" - 1 };

enum { NAME_SIZE = 64 };

/* Names of quantities in lower case, indexed by quantity. A name is empty if the protocol has no quantity of this
 * number. */
static char quantity_names[DYN_CLIENT_QUANTITY_NUMBERS][NAME_SIZE];
static pthread_once_t quantity_names_once = PTHREAD_ONCE_INIT;

/* Fills quantity_names with the protocol's names in lower case, without their prefix. */
static void fill_quantity_names(void) {
    const ProtobufCEnumDescriptor *wire = &dynamics__v1__quantity__descriptor;
    for (unsigned i = 0; i < wire->n_values; i++) {
        const char *name = wire->values[i].name + PREFIX_LENGTH;
        int number = wire->values[i].value;
        for (size_t k = 0; number > 0 && number < DYN_CLIENT_QUANTITY_NUMBERS && name[k] != '\0' && k + 1 < NAME_SIZE;
             k++) {
            quantity_names[number][k] = (char)tolower((unsigned char)name[k]);
        }
    }
}

const char *dyn_client_quantity_name(dyn_client_quantity quantity) {
    pthread_once(&quantity_names_once, fill_quantity_names);
    size_t number = (size_t)quantity;
    return number < DYN_CLIENT_QUANTITY_NUMBERS && quantity_names[number][0] != '\0' ? quantity_names[number] : NULL;
}

bool dyn_client_find_quantity(const char *name, dyn_client_quantity *quantity) {
    if (strcmp(name, "M") == 0) {
        *quantity = DYN_CLIENT_QUANTITY_MASS_MATRIX;
        return true;
    }
    pthread_once(&quantity_names_once, fill_quantity_names);
    for (size_t i = 0; i < DYN_CLIENT_QUANTITY_NUMBERS; i++) {
        if (quantity_names[i][0] != '\0' && strcmp(quantity_names[i], name) == 0) {
            *quantity = (dyn_client_quantity)i;
            return true;
        }
    }
    return false;
}

dyn_client_quantity_subject dyn_client_quantity_subject_of(dyn_client_quantity quantity) {
    static const struct {
        const char *begin;
        dyn_client_quantity_subject subject;
    } subjects[] = {
        {"frame_", DYN_CLIENT_QUANTITY_SUBJECT_FRAMES},
        {"operational_space_", DYN_CLIENT_QUANTITY_SUBJECT_TASK},
        {"center_of_mass", DYN_CLIENT_QUANTITY_SUBJECT_SUBTREE},
    };
    const char *name = dyn_client_quantity_name(quantity);
    for (size_t i = 0; i < sizeof subjects / sizeof *subjects && name; i++) {
        if (strncmp(name, subjects[i].begin, strlen(subjects[i].begin)) == 0) {
            return subjects[i].subject;
        }
    }
    return DYN_CLIENT_QUANTITY_SUBJECT_ROBOT;
}

/* ---- conversion of the reply ------------------------------------------------------------------------------------- */

/* Public result, with the reply and the pool that own its strings and numbers, and the arrays that it refers to. */
typedef struct evaluation_result {
    dyn_client_evaluation evaluation;
    Dynamics__V1__EvaluateReply *reply;
    dyn_client_passive_forces counted;
    dyn_client_axis *axes;
    dyn_client_quantity_result *results;
    dyn_client_block *blocks; /* of all results */
    pool memory;              /* of the axes' unit indices */
} evaluation_result;

/* Converts the unit indices of an axis. Returns NULL when out of memory. */
static const size_t *read_unit_index(pool *memory, const Dynamics__V1__Axis *from) {
    size_t *unit_index = pool_allocate(memory, from->n_unit_index, sizeof *unit_index);
    for (size_t k = 0; unit_index && k < from->n_unit_index; k++) {
        unit_index[k] = from->unit_index[k];
    }
    return unit_index;
}

/* Converts the axes of the reply. Returns false if an axis has no units, or if unit indices are missing or too
 * large. */
static bool read_axes(evaluation_result *result) {
    for (size_t i = 0; i < result->reply->n_axes; i++) {
        const Dynamics__V1__Axis *from = result->reply->axes[i];
        if (from->unit_count == 0 || (from->unit_count > 1 && from->n_unit_index != from->n_labels)) {
            return false;
        }
        for (size_t k = 0; k < from->n_unit_index; k++) {
            if (from->unit_index[k] >= from->unit_count) {
                return false;
            }
        }
        result->axes[i] =
            (dyn_client_axis){.kind = (dyn_client_axis_kind)from->kind,
                              .size = from->n_labels,
                              .labels = (const char *const *)from->labels,
                              .unit_count = from->unit_count,
                              .unit_index = from->unit_count > 1 ? read_unit_index(&result->memory, from) : NULL};
    }
    return true;
}

/* Sets the axes, the shape and the width of a block, and the number of combinations of its axes' units. Returns false
 * if the block does not fit its axes, or on overflow. */
static bool read_shape(const evaluation_result *result, const Dynamics__V1__Block *from, dyn_client_block *block,
                       size_t *combinations) {
    block->width = *combinations = 1;
    block->rank = from->n_shape;
    if (from->n_axes != from->n_shape || from->n_shape > DYN_CLIENT_MAX_RANK) {
        return false;
    }
    for (size_t i = 0; i < from->n_shape; i++) {
        if (from->axes[i] >= result->reply->n_axes || result->axes[from->axes[i]].size != from->shape[i] ||
            !count_doubles(block->width, from->shape[i], &block->width) ||
            !count_doubles(*combinations, result->axes[from->axes[i]].unit_count, combinations)) {
            return false;
        }
        block->axes[i] = &result->axes[from->axes[i]];
        block->shape[i] = from->shape[i];
    }
    return true;
}

/* Converts a block. Returns false if the lengths of its arrays do not fit its shape, its units and the number of
 * samples. */
static bool read_block(const evaluation_result *result, const Dynamics__V1__Block *from, dyn_client_block *block) {
    size_t combinations, count;
    if (!read_shape(result, from, block, &combinations) ||
        !count_doubles(block->width, result->reply->samples, &count) || count != from->n_values ||
        (from->n_units != 1 && from->n_units != combinations)) {
        return false;
    }
    block->name = from->name;
    block->unit_count = from->n_units;
    block->units = (const char *const *)from->units;
    block->values = from->values;
    return true;
}

/* The flag of an input is 1 << (n - 1), where n is the number of the input in the protocol. */
_Static_assert(DYN_CLIENT_QUANTITY_INPUT_V == 1 << (DYNAMICS__V1__QUANTITY_INPUT__QUANTITY_INPUT_V - 1) &&
                   DYN_CLIENT_QUANTITY_INPUT_DTAU == 1 << (DYNAMICS__V1__QUANTITY_INPUT__QUANTITY_INPUT_DTAU - 1) &&
                   DYN_CLIENT_QUANTITY_INPUT_BASE_MOTION ==
                       1 << (DYNAMICS__V1__QUANTITY_INPUT__QUANTITY_INPUT_BASE_MOTION - 1),
               "a flag of an input is not that of the wire");

/* Returns the inputs of a quantity as flags DYN_CLIENT_QUANTITY_INPUT_*. */
static unsigned read_inputs(const Dynamics__V1__QuantityResult *from) {
    unsigned inputs = 0;
    for (size_t i = 0; i < from->n_inputs; i++) {
        if (from->inputs[i] > 0 && from->inputs[i] < 32) {
            inputs |= 1u << (from->inputs[i] - 1);
        }
    }
    return inputs;
}

/* Converts the results of the reply with their blocks. Returns false if a block is inconsistent. */
static bool read_results(evaluation_result *result) {
    const Dynamics__V1__EvaluateReply *reply = result->reply;
    dyn_client_block *next = result->blocks;
    for (size_t i = 0; i < reply->n_results; i++) {
        const Dynamics__V1__QuantityResult *from = reply->results[i];
        result->results[i] =
            (dyn_client_quantity_result){.quantity = (dyn_client_quantity)from->quantity,
                                         .request = from->request,
                                         .frame = from->frame,
                                         .reference_frame = (dyn_client_reference_frame)from->reference_frame,
                                         .expressed_in = from->expressed_in,
                                         .of_tree = from->of_tree,
                                         .inputs = read_inputs(from),
                                         .block_count = from->n_blocks,
                                         .blocks = next};
        for (size_t k = 0; k < from->n_blocks; k++) {
            if (!read_block(result, from->blocks[k], next++)) {
                return false;
            }
        }
    }
    return true;
}

/* Returns true if the reply has the samples and nv of the query, and the results that the request asks for in their
 * order. */
static bool fits(const Dynamics__V1__EvaluateReply *reply, const dyn_client_query *query,
                 const Dynamics__V1__EvaluateRequest *body) {
    bool same = reply->samples == query->samples && reply->nv == query->nv;
    size_t next = 0;
    for (size_t i = 0; i < body->n_quantities && same; i++) {
        const Dynamics__V1__QuantityRequest *wanted = body->quantities[i];
        /* A quantity has one result, or one for each frame. */
        for (size_t k = 0; k < (wanted->n_frames > 0 ? wanted->n_frames : 1) && same; k++, next++) {
            same = next < reply->n_results && reply->results[next]->quantity == wanted->quantity &&
                   reply->results[next]->request == i &&
                   strcmp(reply->results[next]->frame, wanted->n_frames > 0 ? wanted->frames[k] : "") == 0;
        }
    }
    return same && next == reply->n_results;
}

static void free_result(evaluation_result *freed) {
    dynamics__v1__evaluate_reply__free_unpacked(freed->reply, NULL);
    pool_free(&freed->memory);
    free(freed->axes);
    free(freed->results);
    free(freed->blocks);
    free(freed);
}

static const double *residuals_of(const Dynamics__V1__EvaluateReply *reply) {
    return reply->agreement ? reply->agreement->residuals : NULL;
}

/* Converts the reply to the public result, which owns the reply. Frees the reply on failure. */
static dyn_client_status convert_reply(Dynamics__V1__EvaluateReply *reply, dyn_client_evaluation **evaluation,
                                       dyn_client_error *error) {
    size_t block_count = 0;
    for (size_t i = 0; i < reply->n_results; i++) {
        block_count += reply->results[i]->n_blocks;
    }
    evaluation_result *result = calloc(1, sizeof *result);
    if (!result) {
        dynamics__v1__evaluate_reply__free_unpacked(reply, NULL);
        return fail_memory(error);
    }
    result->reply = reply;
    result->axes = calloc(reply->n_axes + 1, sizeof *result->axes);
    result->results = calloc(reply->n_results + 1, sizeof *result->results);
    result->blocks = calloc(block_count + 1, sizeof *result->blocks);
    dyn_client_status status = DYN_CLIENT_OK;
    bool is_read = result->axes && result->results && result->blocks && read_axes(result) && read_results(result);
    if (!result->axes || !result->results || !result->blocks || result->memory.is_exhausted) {
        status = fail_memory(error);
    } else if (!is_read || (residuals_of(reply) && reply->agreement->n_residuals != reply->samples)) {
        status = fail_bad_reply(error, "a block of the result does not hold what its axes say");
    }
    if (status != DYN_CLIENT_OK) {
        free_result(result);
        return status;
    }
    result->evaluation =
        (dyn_client_evaluation){.samples = reply->samples,
                                .axis_count = reply->n_axes,
                                .axes = result->axes,
                                .result_count = reply->n_results,
                                .results = result->results,
                                .counted_passive_forces = to_passive_forces(reply->passive_forces, &result->counted),
                                .residuals = residuals_of(reply)};
    *evaluation = &result->evaluation;
    return DYN_CLIENT_OK;
}

const dyn_client_axis *dyn_client_find_axis(const dyn_client_evaluation *evaluation, dyn_client_axis_kind kind) {
    for (size_t i = 0; i < evaluation->axis_count; i++) {
        if (evaluation->axes[i].kind == kind) {
            return &evaluation->axes[i];
        }
    }
    return NULL;
}

const char *dyn_client_block_unit(const dyn_client_block *block, size_t entry) {
    size_t combination = 0, rest = entry, left = block->width;
    for (size_t i = 0; i < block->rank && block->unit_count > 1; i++) {
        const dyn_client_axis *axis = block->axes[i];
        left /= axis->size;
        combination = combination * axis->unit_count + (axis->unit_index ? axis->unit_index[rest / left] : 0);
        rest %= left;
    }
    return block->units[combination];
}

/* ---- encoding of the request ------------------------------------------------------------------------------------- */

/* An evaluation: the request, its number of samples, and the reply. */
typedef struct evaluation_call {
    const dyn_client_evaluate_request *request;
    size_t samples;
    joined_reply joined;
} evaluation_call;

/* Sets the query and the state arrays of the request, that is everything except its quantities. */
static void fill_question(const query_parts *parts, size_t first, const dyn_client_evaluate_request *request,
                          Dynamics__V1__EvaluateRequest *body) {
    size_t nq = parts->source.nq, nv = parts->source.nv, samples = parts->source.samples;
    body->query = (Dynamics__V1__Query *)&parts->query;
    body->q = sample_rows(request->q, first, nq, samples, &body->n_q);
    body->v = sample_rows(request->v, first, nv, samples, &body->n_v);
    body->a = sample_rows(request->a, first, nv, samples, &body->n_a);
    body->tau = sample_rows(request->tau, first, nv, samples, &body->n_tau);
    body->dq = sample_rows(request->dq, first, nv, samples, &body->n_dq);
    body->dv = sample_rows(request->dv, first, nv, samples, &body->n_dv);
    body->da = sample_rows(request->da, first, nv, samples, &body->n_da);
    body->dtau = sample_rows(request->dtau, first, nv, samples, &body->n_dtau);
    body->contact_step = request->contact_step;
}

/* ---- joining the replies of pieces ------------------------------------------------------------------------------- */

/* Joins the residuals. Pieces through a fast channel have none: then the whole reply has none either. */
static bool join_agreements(const Dynamics__V1__EvaluateReply *from, sample_range range,
                            Dynamics__V1__EvaluateReply *to) {
    if (!to->agreement) {
        return true;
    }
    if (!from->agreement) {
        dynamics__v1__motion_agreement__free_unpacked(to->agreement, NULL);
        to->agreement = NULL;
        return true;
    }
    const sample_values own = {&from->agreement->residuals, &from->agreement->n_residuals},
                        whole = {&to->agreement->residuals, &to->agreement->n_residuals};
    return sample_values_join(range, from == to ? NULL : &own, whole);
}

/* Joins the values of all blocks. */
static bool join(ProtobufCMessage *piece, sample_range range, ProtobufCMessage *all) {
    Dynamics__V1__EvaluateReply *from = (Dynamics__V1__EvaluateReply *)piece, *to = (Dynamics__V1__EvaluateReply *)all;
    bool is_joined = from->n_results == to->n_results && join_agreements(from, range, to);
    to->samples = range.all;
    for (size_t i = 0; i < from->n_results && is_joined; i++) {
        is_joined = from->results[i]->n_blocks == to->results[i]->n_blocks;
        for (size_t k = 0; k < from->results[i]->n_blocks && is_joined; k++) {
            Dynamics__V1__Block *own = from->results[i]->blocks[k], *whole = to->results[i]->blocks[k];
            const sample_values values = {&own->values, &own->n_values}, joined = {&whole->values, &whole->n_values};
            is_joined = sample_values_join(range, from == to ? NULL : &values, joined);
        }
    }
    return is_joined;
}

/* Requests the quantities of some samples, and checks the reply against the request. */
static dyn_client_status ask_evaluate(dyn_client *client, const query_parts *parts, size_t first, void *context,
                                      dyn_client_error *error) {
    evaluation_call *call = context;
    const sample_range range = {first, parts->source.samples, call->samples};
    pool memory = {0};
    Dynamics__V1__EvaluateRequest body = DYNAMICS__V1__EVALUATE_REQUEST__INIT;
    Dynamics__V1__EvaluateReply *reply;
    fill_question(parts, first, call->request, &body);
    dyn_client_status status = quantities_encode(call->request, range, &memory, &body, error);
    if (status == DYN_CLIENT_OK && !fast_channel_evaluate(client, &body, &parts->terms, &reply, &status, error)) {
        status = request_evaluate(client, &body, parts->terms, &reply, error);
    }
    if (status == DYN_CLIENT_OK && !fits(reply, &parts->source, &body)) {
        dynamics__v1__evaluate_reply__free_unpacked(reply, NULL);
        status = fail_bad_reply(error, "the results are not those that were asked for");
    } else if (status == DYN_CLIENT_OK) {
        status = joined_reply_add(&call->joined, range, &reply->base, error);
    }
    pool_free(&memory);
    return status;
}

dyn_client_status dyn_client_evaluate(dyn_client *client, const dyn_client_query *query,
                                      const dyn_client_evaluate_request *request, dyn_client_evaluation **evaluation,
                                      dyn_client_error *error) {
    *evaluation = NULL;
    dyn_client_evaluate_request known;
    dyn_client_query whole;
    dyn_client_status status = sized_read("request", request, sizeof known, &known, error);
    if (status == DYN_CLIENT_OK) {
        status = sized_read("query", query, sizeof whole, &whole, error);
    }
    if (status != DYN_CLIENT_OK) {
        return status;
    }
    evaluation_call call = {.request = &known, .samples = whole.samples, .joined = {.join = join}};
    const spread_call asked = {query, known.q, {.rows = 8}, ask_evaluate, &call, {{NULL, 0}}};
    status = spread_joined(client, &asked, &call.joined, error);
    return status == DYN_CLIENT_OK ? convert_reply((Dynamics__V1__EvaluateReply *)call.joined.reply, evaluation, error)
                                   : status;
}

void dyn_client_evaluation_free(dyn_client_evaluation *evaluation) {
    if (evaluation) {
        free_result((evaluation_result *)evaluation);
    }
}
