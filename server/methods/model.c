/* LoadModel, UnloadModel, ListModels. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "methods/methods.h"
#include "methods/summary.h"
#include "methods/text.h"

/* Checks the request and takes its options. */
static bool take_options(call *c, const Dynamics__V1__LoadModelRequest *r, model_options *options) {
    if (r->base_type != DYNAMICS__V1__BASE__BASE_FIXED && r->base_type != DYNAMICS__V1__BASE__BASE_FLOATING) {
        call_blame(c, "base_type");
        call_fail(c, DYNAMICS__V1__CODE__CODE_INVALID_ARGUMENT, "base_type is %d; give FIXED (0) or FLOATING (1)",
                  (int)r->base_type);
        return false;
    }
    if (r->mimic != DYNAMICS__V1__MIMIC_POLICY__MIMIC_POLICY_COUPLED &&
        r->mimic != DYNAMICS__V1__MIMIC_POLICY__MIMIC_POLICY_INDEPENDENT) {
        call_blame(c, "mimic");
        call_fail(c, DYNAMICS__V1__CODE__CODE_INVALID_ARGUMENT, "mimic is %d; give COUPLED (0) or INDEPENDENT (1)",
                  (int)r->mimic);
        return false;
    }
    if (!text_is_utf8(r->name)) {
        call_blame(c, "name");
        call_fail(c, DYNAMICS__V1__CODE__CODE_INVALID_ARGUMENT, "the name is not UTF-8");
        return false;
    }
    *options = (model_options){
        .base = r->base_type == DYNAMICS__V1__BASE__BASE_FLOATING ? DYN_BASE_FLOATING : DYN_BASE_FIXED,
        .mimic = r->mimic == DYNAMICS__V1__MIMIC_POLICY__MIMIC_POLICY_INDEPENDENT ? DYN_MIMIC_INDEPENDENT
                                                                                  : DYN_MIMIC_COUPLED,
        .strict = r->strict,
        .has_gravity = r->gravity != NULL,
    };
    if (r->gravity) {
        options->gravity[0] = r->gravity->x;
        options->gravity[1] = r->gravity->y;
        options->gravity[2] = r->gravity->z;
    }
    return true;
}

/* Ends the call with what the reader found wrong; its places are "urdf:42", "gravity", "name". */
static void fail_load(call *c, dyn_status status, const dyn_error *error) {
    call_blame(c, "%s",
               strncmp(error->place, "urdf", 4) == 0 || strcmp(error->place, "gravity") == 0 ||
                       strcmp(error->place, "name") == 0
                   ? error->place
                   : "urdf");
    bool is_in_message = strncmp(error->place, "link ", 5) == 0 || strncmp(error->place, "joint ", 6) == 0;
    call_fail(c, call_code(status), "%s%s%s", is_in_message ? error->place : "", is_in_message ? ": " : "",
              error->message);
}

/* Ends the call where the store did not take the model. */
static void fail_insertion(call *c, model_insertion result, const model_entry *entry, const model_entry *present) {
    if (result == MODEL_NAME_TAKEN) {
        call_blame(c, "name");
        call_fail(c, DYNAMICS__V1__CODE__CODE_ALREADY_EXISTS,
                  "another model is named \"%s\" already (%.19s...); choose another name, or set replace", entry->name,
                  present ? present->digest : "");
    } else {
        call_fail(c, DYNAMICS__V1__CODE__CODE_RESOURCE_EXHAUSTED,
                  "the store holds %zu models, the limit (limits.models); unload one first",
                  model_store_count(c->service->store));
    }
}

static void reply_loaded(call *c, const model_entry *entry, bool was_present) {
    Dynamics__V1__LoadModelReply *reply = call_allocate(c, 1, sizeof *reply);
    if (!reply) {
        return;
    }
    dynamics__v1__load_model_reply__init(reply);
    reply->model = summary_create(c, entry);
    reply->report = summary_report(c, entry, &reply->n_report);
    reply->already_loaded = was_present;
    c->reply.result_case = DYNAMICS__V1__REPLY__RESULT_LOAD_MODEL;
    c->reply.load_model = reply;
}

void method_load_model(call *c) {
    const Dynamics__V1__LoadModelRequest *r = c->request->load_model;
    model_options options;
    dyn_error error = {0};
    model_entry *entry, *present = NULL;
    if (!take_options(c, r, &options)) {
        return;
    }
    if (r->urdf[0] == '\0') {
        call_blame(c, "urdf");
        call_fail(c, DYNAMICS__V1__CODE__CODE_INVALID_ARGUMENT, "urdf is empty; give the text of a URDF file");
        return;
    }
    dyn_status status = model_entry_create(r->urdf, strlen(r->urdf), r->name, "", &options,
                                           atomic_load(&c->service->limits->links), &error, &entry);
    if (status != DYN_OK) {
        fail_load(c, status, &error);
        return;
    }
    model_insertion result = model_store_insert(c->service->store, entry, r->replace, &present);
    if (result == MODEL_INSERTED || result == MODEL_PRESENT) {
        reply_loaded(c, present ? present : entry, result == MODEL_PRESENT);
    } else {
        fail_insertion(c, result, entry, present);
    }
    if (result == MODEL_INSERTED) {
        log_info(c->service->log, "model %s loaded by %s: nq %d, nv %d", entry->name, c->transport->peer,
                 dyn_model_nq(entry->model), dyn_model_nv(entry->model));
    }
    model_entry_release(present);
    model_entry_release(entry);
}

void method_unload_model(call *c) {
    model_entry *found = call_find_model(c, c->request->unload_model->model);
    if (!found) {
        return;
    }
    Dynamics__V1__UnloadModelReply *reply = call_allocate(c, 1, sizeof *reply);
    Dynamics__V1__ModelSummary *summary = summary_create(c, found);
    model_entry_release(found);
    model_entry *entry = call_has_ended(c) ? NULL : model_store_remove(c->service->store, summary->name);
    if (entry) {
        log_info(c->service->log, "model %s unloaded by %s", entry->name, c->transport->peer);
        model_entry_release(entry);
    }
    if (reply && summary) {
        dynamics__v1__unload_model_reply__init(reply);
        reply->model = summary;
        c->reply.result_case = DYNAMICS__V1__REPLY__RESULT_UNLOAD_MODEL;
        c->reply.unload_model = reply;
    }
}

void method_list_models(call *c) {
    model_entry **entries;
    size_t count;
    Dynamics__V1__ListModelsReply *reply = call_allocate(c, 1, sizeof *reply);
    if (!reply || !model_store_list(c->service->store, &entries, &count)) {
        call_fail_memory(c);
        return;
    }
    dynamics__v1__list_models_reply__init(reply);
    reply->models = call_allocate(c, count, sizeof *reply->models);
    for (size_t i = 0; reply->models && i < count; i++) {
        reply->models[i] = summary_create(c, entries[i]);
        reply->n_models = i + 1;
    }
    model_store_release_list(entries, count);
    c->reply.result_case = DYNAMICS__V1__REPLY__RESULT_LIST_MODELS;
    c->reply.list_models = reply;
}
