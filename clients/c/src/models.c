/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Loads, lists and unloads models.
 */
#include "requests.h"

#include <stdlib.h>

#include "descriptions.h"
#include "error.h"
#include "loaded.h"
#include "model_parts.h"
#include "sized.h"

/* ---- load -------------------------------------------------------------------------------------------------------- */

/* Public result, with the reply that owns its strings, and its report. */
typedef struct loaded_result {
    dyn_client_loaded_model loaded;
    ProtobufCMessage *reply;
    dyn_client_report_entry report[];
} loaded_result;

dyn_client_status loaded_unpack(ProtobufCMessage *reply, const Dynamics__V1__LoadedModel *from,
                                dyn_client_loaded_model **loaded, dyn_client_error *error) {
    size_t count = from ? from->n_report : 0;
    loaded_result *result = calloc(1, sizeof *result + count * sizeof *result->report);
    if (!from || !result) {
        free(result);
        protobuf_c_message_free_unpacked(reply, NULL);
        return !from ? fail_bad_reply(error, "it tells nothing about the model") : fail_memory(error);
    }
    result->reply = reply;
    to_report(count, from->report, result->report);
    result->loaded = (dyn_client_loaded_model){.model = to_model(from->model),
                                               .report_count = count,
                                               .report = result->report,
                                               .already_loaded = from->already_loaded};
    *loaded = &result->loaded;
    return DYN_CLIENT_OK;
}

/* Sets the source of `load` to the description of the request: links and joints, a Denavit-Hartenberg table, or screws.
 * Leaves it unset if the request has none of them. */
static dyn_client_status set_numbers(const dyn_client_load_request *request, pool *memory,
                                     Dynamics__V1__LoadModelRequest *load, dyn_client_error *error) {
    dyn_client_model_description description;
    dyn_client_dh_table table;
    dyn_client_screw_chain chain;
    dyn_client_status status = DYN_CLIENT_OK;
    if (request->description) {
        status = sized_read("request.description", request->description, sizeof description, &description, error);
        load->source_case = DYNAMICS__V1__LOAD_MODEL_REQUEST__SOURCE_DESCRIPTION;
        load->description = status == DYN_CLIENT_OK ? from_description(memory, &description) : NULL;
    } else if (request->denavit_hartenberg) {
        status = sized_read("request.denavit_hartenberg", request->denavit_hartenberg, sizeof table, &table, error);
        load->source_case = DYNAMICS__V1__LOAD_MODEL_REQUEST__SOURCE_DENAVIT_HARTENBERG;
        load->denavit_hartenberg = status == DYN_CLIENT_OK ? from_dh_table(memory, &table) : NULL;
    } else if (request->screws) {
        status = sized_read("request.screws", request->screws, sizeof chain, &chain, error);
        load->source_case = DYNAMICS__V1__LOAD_MODEL_REQUEST__SOURCE_SCREWS;
        load->screws = status == DYN_CLIENT_OK ? from_screws(memory, &chain) : NULL;
    }
    return status;
}

/* Sets the source of `load` to the description of the request. Returns INVALID_ARGUMENT unless the request has exactly
 * one form of description. */
static dyn_client_status set_source(const dyn_client_load_request *request, pool *memory,
                                    Dynamics__V1__LoadModelRequest *load, dyn_client_error *error) {
    int forms = (request->urdf != NULL) + (request->description != NULL) + (request->denavit_hartenberg != NULL) +
                (request->screws != NULL);
    if (forms != 1) {
        return fail(error, DYN_CLIENT_INVALID_ARGUMENT, "load_model.source",
                    "there are %d descriptions; pass one of urdf, description, denavit_hartenberg and screws", forms);
    }
    if (!request->urdf) {
        return set_numbers(request, memory, load, error);
    }
    load->source_case = DYNAMICS__V1__LOAD_MODEL_REQUEST__SOURCE_URDF;
    load->urdf = (char *)request->urdf;
    return DYN_CLIENT_OK;
}

dyn_client_status load_source(dyn_client *client, const dyn_client_load_request *request,
                              Dynamics__V1__LoadModelRequest *load, pool *memory, dyn_client_loaded_model **loaded,
                              dyn_client_error *error) {
    if (request->name) {
        load->name = (char *)request->name;
    }
    load->base_type = (Dynamics__V1__Base)request->base;
    load->mimic = (Dynamics__V1__MimicPolicy)request->mimic;
    load->strict = request->strict;
    load->replace = request->replace;
    if (request->expected_digest) {
        load->expected_digest = (char *)request->expected_digest;
    }
    load->keep = request->keep;
    load->cut_loops = request->cut_loops;
    load->transmissions = request->transmissions;
    if (request->loops) {
        load->loops = (char *)request->loops;
    }
    load->gravity = request->gravity ? from_vector3(memory, request->gravity) : NULL;
    if (memory->is_exhausted) {
        return fail_memory(error);
    }
    const call_terms terms = {
        .timeout = request->timeout, .progress = request->progress, .context = request->progress_context};
    Dynamics__V1__LoadModelReply *answer;
    dyn_client_status status = request_load_model(client, load, terms, &answer, error);
    return status == DYN_CLIENT_OK ? loaded_unpack(&answer->base, answer->loaded, loaded, error) : status;
}

dyn_client_status dyn_client_load_model(dyn_client *client, const dyn_client_load_request *request,
                                        dyn_client_loaded_model **loaded, dyn_client_error *error) {
    *loaded = NULL;
    dyn_client_load_request known;
    if (!client) {
        return fail(error, DYN_CLIENT_INVALID_ARGUMENT, "client", "client is NULL");
    }
    dyn_client_status status = sized_read("request", request, sizeof known, &known, error);
    if (status != DYN_CLIENT_OK) {
        return status;
    }
    pool memory = {0};
    Dynamics__V1__LoadModelRequest load = DYNAMICS__V1__LOAD_MODEL_REQUEST__INIT;
    status = set_source(&known, &memory, &load, error);
    if (status == DYN_CLIENT_OK) {
        status = load_source(client, &known, &load, &memory, loaded, error);
    }
    pool_free(&memory);
    return status;
}

void dyn_client_loaded_model_free(dyn_client_loaded_model *loaded) {
    if (!loaded) {
        return;
    }
    loaded_result *result = (loaded_result *)loaded;
    protobuf_c_message_free_unpacked(result->reply, NULL);
    free(result);
}

/* ---- unload ------------------------------------------------------------------------------------------------------ */

dyn_client_status dyn_client_unload_model(dyn_client *client, const char *model, double timeout,
                                          dyn_client_error *error) {
    if (!client || !model) {
        return fail(error, DYN_CLIENT_INVALID_ARGUMENT, "unload_model.model", "client or model is NULL");
    }
    Dynamics__V1__UnloadModelRequest unload = DYNAMICS__V1__UNLOAD_MODEL_REQUEST__INIT;
    Dynamics__V1__Request request = DYNAMICS__V1__REQUEST__INIT;
    unload.model = (char *)model;
    request.method_case = DYNAMICS__V1__REQUEST__METHOD_UNLOAD_MODEL;
    request.unload_model = &unload;
    call_reply answer;
    dyn_client_status status = call(client, &request, within(timeout), &answer, error);
    call_reply_free(&answer);
    return status;
}

/* ---- list -------------------------------------------------------------------------------------------------------- */

typedef struct list_result {
    dyn_client_model_list list;
    Dynamics__V1__ListModelsReply *reply;
    dyn_client_model models[];
} list_result;

dyn_client_status dyn_client_list_models(dyn_client *client, double timeout, dyn_client_model_list **list,
                                         dyn_client_error *error) {
    *list = NULL;
    if (!client) {
        return fail(error, DYN_CLIENT_INVALID_ARGUMENT, "client", "client is NULL");
    }
    Dynamics__V1__ListModelsRequest question = DYNAMICS__V1__LIST_MODELS_REQUEST__INIT;
    Dynamics__V1__ListModelsReply *answer;
    dyn_client_status status = request_list_models(client, &question, within(timeout), &answer, error);
    if (status != DYN_CLIENT_OK) {
        return status;
    }
    list_result *result = calloc(1, sizeof *result + answer->n_models * sizeof *result->models);
    if (!result) {
        dynamics__v1__list_models_reply__free_unpacked(answer, NULL);
        return fail_memory(error);
    }
    result->reply = answer;
    for (size_t i = 0; i < answer->n_models; i++) {
        result->models[i] = to_model(answer->models[i]);
    }
    result->list = (dyn_client_model_list){.count = answer->n_models, .models = result->models};
    *list = &result->list;
    return DYN_CLIENT_OK;
}

void dyn_client_model_list_free(dyn_client_model_list *list) {
    if (!list) {
        return;
    }
    list_result *result = (list_result *)list;
    dynamics__v1__list_models_reply__free_unpacked(result->reply, NULL);
    free(result);
}
