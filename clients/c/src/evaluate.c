/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Many quantities at once.
 */
#include "ask.h"

#include <ctype.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "query.h"

/* Names of the wire's quantities are "QUANTITY_MASS_MATRIX". */
static const char PREFIX[] = "QUANTITY_";

enum { NAME_SIZE = 64 };

/* Names in lower case, by number; empty where there is no quantity. */
static char quantity_names[DYN_CLIENT_QUANTITY_NUMBERS][NAME_SIZE];
static pthread_once_t quantity_names_once = PTHREAD_ONCE_INIT;

/* Spells the names of the wire in lower case, without their prefix. */
static void fill_quantity_names(void) {
    const ProtobufCEnumDescriptor *wire = &dynamics__v1__quantity__descriptor;
    for (unsigned i = 0; i < wire->n_values; i++) {
        const char *name = wire->values[i].name + sizeof PREFIX - 1;
        int number = wire->values[i].value;
        for (size_t k = 0; number > 0 && number < DYN_CLIENT_QUANTITY_NUMBERS && name[k] != '\0' && k + 1 < NAME_SIZE;
             k++)
            quantity_names[number][k] = (char)tolower((unsigned char)name[k]);
    }
}

const char *dyn_client_quantity_name(dyn_client_quantity quantity) {
    pthread_once(&quantity_names_once, fill_quantity_names);
    size_t number = (size_t)quantity;
    return number < DYN_CLIENT_QUANTITY_NUMBERS && quantity_names[number][0] != '\0' ? quantity_names[number] : NULL;
}

bool dyn_client_find_quantity(const char *name, dyn_client_quantity *quantity) {
    pthread_once(&quantity_names_once, fill_quantity_names);
    for (size_t i = 0; i < DYN_CLIENT_QUANTITY_NUMBERS; i++) {
        if (quantity_names[i][0] != '\0' && strcmp(quantity_names[i], name) == 0) {
            *quantity = (dyn_client_quantity)i;
            return true;
        }
    }
    return false;
}

/* ---- the answer -------------------------------------------------------------------------------------------------- */

/* The result and what its strings and numbers live in. */
typedef struct evaluation_result {
    dyn_client_evaluation evaluation;
    Dynamics__V1__EvaluateReply *reply;
    dyn_client_quantity_result *results;
    dyn_client_block *blocks; /* of all results */
} evaluation_result;

/* Values of one sample; false where they are beyond any memory. */
static bool take_width(const Dynamics__V1__Block *block, size_t *width) {
    *width = 1;
    for (size_t i = 0; i < block->n_shape; i++)
        if (!count_doubles(*width, block->shape[i], width))
            return false;
    return true;
}

/* Does a block hold what it says? */
static bool take_block(const Dynamics__V1__Block *from, size_t samples, dyn_client_block *block) {
    size_t width, count;
    if (from->n_axes != from->n_shape || !take_width(from, &width) || !count_doubles(width, samples, &count) ||
        count != from->n_values)
        return false;
    *block = (dyn_client_block){.name = from->name,
                                .unit = from->unit,
                                .rank = from->n_shape,
                                .shape = from->shape,
                                .axes = (const char *const *)from->axes,
                                .width = width,
                                .values = from->values};
    return true;
}

/* Takes the results of a reply; false where one contradicts itself. */
static bool take_results(evaluation_result *taken) {
    const Dynamics__V1__EvaluateReply *reply = taken->reply;
    dyn_client_block *next = taken->blocks;
    for (size_t i = 0; i < reply->n_results; i++) {
        const Dynamics__V1__QuantityResult *from = reply->results[i];
        taken->results[i] =
            (dyn_client_quantity_result){.quantity = (dyn_client_quantity)from->quantity,
                                         .frame = from->frame,
                                         .reference_frame = (dyn_client_reference_frame)from->reference_frame,
                                         .expressed_in = from->expressed_in,
                                         .block_count = from->n_blocks,
                                         .blocks = next};
        for (size_t k = 0; k < from->n_blocks; k++)
            if (!take_block(from->blocks[k], reply->samples, next++))
                return false;
    }
    return true;
}

/* Does the reply answer this question? */
static bool fits(const Dynamics__V1__EvaluateReply *reply, const dyn_client_query *query,
                 const Dynamics__V1__EvaluateRequest *asked) {
    bool same = reply->samples == query->samples && reply->nv == query->nv && reply->n_joints == query->nv;
    size_t next = 0;
    for (size_t i = 0; i < asked->n_quantities && same; i++) {
        same = next < reply->n_results && reply->results[next]->quantity == asked->quantities[i];
        /* One result, or one for each frame. */
        size_t count = same && reply->results[next]->frame[0] != '\0' ? asked->n_frames : 1;
        for (size_t k = 0; k < count && same; k++, next++)
            same = next < reply->n_results && reply->results[next]->quantity == asked->quantities[i] &&
                   (reply->results[next]->frame[0] == '\0' ||
                    (k < asked->n_frames && strcmp(reply->results[next]->frame, asked->frames[k]) == 0));
    }
    return same && next == reply->n_results;
}

static void free_result(evaluation_result *freed) {
    dynamics__v1__evaluate_reply__free_unpacked(freed->reply, NULL);
    free(freed->results);
    free(freed->blocks);
    free(freed);
}

/* Turns the reply, which is freed on failure, into the result. */
static dyn_client_status take_reply(Dynamics__V1__EvaluateReply *reply, dyn_client_error *error,
                                    dyn_client_evaluation **evaluation) {
    size_t block_count = 0;
    for (size_t i = 0; i < reply->n_results; i++)
        block_count += reply->results[i]->n_blocks;
    evaluation_result *taken = calloc(1, sizeof *taken);
    if (taken == NULL) {
        dynamics__v1__evaluate_reply__free_unpacked(reply, NULL);
        return fail_memory(error);
    }
    taken->reply = reply;
    taken->results = calloc(reply->n_results + 1, sizeof *taken->results);
    taken->blocks = calloc(block_count + 1, sizeof *taken->blocks);
    dyn_client_status status = DYN_CLIENT_OK;
    if (taken->results == NULL || taken->blocks == NULL)
        status = fail_memory(error);
    else if (!take_results(taken))
        status = fail_bad_reply(error, "a block of the result does not hold as many values as its shape says");
    if (status != DYN_CLIENT_OK) {
        free_result(taken);
        return status;
    }
    taken->evaluation = (dyn_client_evaluation){.samples = reply->samples,
                                                .joints = (const char *const *)reply->joints,
                                                .body_count = reply->n_bodies,
                                                .bodies = (const char *const *)reply->bodies,
                                                .task_row_count = reply->n_task,
                                                .task_rows = (const char *const *)reply->task,
                                                .result_count = reply->n_results,
                                                .results = taken->results};
    *evaluation = &taken->evaluation;
    return DYN_CLIENT_OK;
}

enum { TASK_AXES = 6 };

/* ---- the question ------------------------------------------------------------------------------------------------ */

static dyn_client_status check_request(const dyn_client_evaluate_request *request, dyn_client_error *error) {
    if (request->quantity_count == 0 || request->quantities == NULL)
        return fail(error, DYN_CLIENT_INVALID_ARGUMENT, "quantities", "no quantities: ask for one or more");
    if (request->frame_count > 0 && request->frames == NULL)
        return fail(error, DYN_CLIENT_INVALID_ARGUMENT, "frames", "frames is NULL");
    for (size_t i = 0; i < request->frame_count; i++)
        if (request->frames[i] == NULL)
            return fail(error, DYN_CLIENT_INVALID_ARGUMENT, "frames", "frames[%zu] is NULL", i);
    if (request->task_axis_count > TASK_AXES || (request->task_axis_count > 0 && request->task_axes == NULL))
        return fail(error, DYN_CLIENT_INVALID_ARGUMENT, "task_axes", "%zu axes of a task: give up to %d, or none",
                    request->task_axis_count, TASK_AXES);
    return DYN_CLIENT_OK;
}

/* Everything but the quantities. */
static void fill_question(const query_parts *parts, const dyn_client_evaluate_request *request,
                          Dynamics__V1__EvaluateRequest *asked) {
    asked->query = (Dynamics__V1__Query *)&parts->query;
    asked->n_q = parts->q_count;
    asked->q = (double *)request->q;
    asked->n_v = request->v != NULL ? parts->v_count : 0;
    asked->v = (double *)request->v;
    asked->n_a = request->a != NULL ? parts->v_count : 0;
    asked->a = (double *)request->a;
    asked->n_tau = request->tau != NULL ? parts->v_count : 0;
    asked->tau = (double *)request->tau;
    asked->n_dq = request->dq != NULL ? parts->v_count : 0;
    asked->dq = (double *)request->dq;
    asked->n_dv = request->dv != NULL ? parts->v_count : 0;
    asked->dv = (double *)request->dv;
    asked->n_da = request->da != NULL ? parts->v_count : 0;
    asked->da = (double *)request->da;
    asked->n_dtau = request->dtau != NULL ? parts->v_count : 0;
    asked->dtau = (double *)request->dtau;
    asked->n_frames = request->frame_count;
    asked->frames = (char **)request->frames;
    asked->reference_frame = (Dynamics__V1__ReferenceFrame)request->reference_frame;
    if (request->subtree != NULL)
        asked->subtree = (char *)request->subtree;
}

/* Sends the question with its quantities, and takes the answer. */
static dyn_client_status ask(dyn_client *client, const dyn_client_query *query,
                             const dyn_client_evaluate_request *request, Dynamics__V1__EvaluateRequest *asked,
                             dyn_client_error *error, dyn_client_evaluation **evaluation) {
    Dynamics__V1__EvaluateReply *reply;
    asked->quantities = calloc(request->quantity_count, sizeof *asked->quantities);
    if (asked->quantities == NULL)
        return fail_memory(error);
    asked->n_quantities = request->quantity_count;
    for (size_t i = 0; i < request->quantity_count; i++)
        asked->quantities[i] = (Dynamics__V1__Quantity)request->quantities[i];
    Dynamics__V1__TaskAxis axes[TASK_AXES];
    for (size_t i = 0; i < request->task_axis_count; i++)
        axes[i] = (Dynamics__V1__TaskAxis)request->task_axes[i];
    asked->n_task_axes = request->task_axis_count;
    asked->task_axes = axes;
    dyn_client_status status = ask_evaluate(client, asked, query->timeout, error, &reply);
    if (status == DYN_CLIENT_OK && !fits(reply, query, asked)) {
        dynamics__v1__evaluate_reply__free_unpacked(reply, NULL);
        status = fail_bad_reply(error, "the results are not those that were asked for");
    } else if (status == DYN_CLIENT_OK) {
        status = take_reply(reply, error, evaluation);
    }
    free(asked->quantities);
    return status;
}

dyn_client_status dyn_client_evaluate(dyn_client *client, const dyn_client_query *query,
                                      const dyn_client_evaluate_request *request, dyn_client_error *error,
                                      dyn_client_evaluation **evaluation) {
    *evaluation = NULL;
    if (request == NULL)
        return fail(error, DYN_CLIENT_INVALID_ARGUMENT, "request", "request is NULL");
    query_parts parts;
    dyn_client_status status = query_parts_take(client, query, request->q, error, &parts);
    if (status != DYN_CLIENT_OK)
        return status;
    Dynamics__V1__EvaluateRequest asked = DYNAMICS__V1__EVALUATE_REQUEST__INIT;
    fill_question(&parts, request, &asked);
    status = check_request(request, error);
    if (status == DYN_CLIENT_OK)
        status = ask(client, query, request, &asked, error, evaluation);
    query_parts_free(&parts);
    return status;
}

void dyn_client_evaluation_free(dyn_client_evaluation *evaluation) {
    if (evaluation != NULL)
        free_result((evaluation_result *)evaluation);
}
