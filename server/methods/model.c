/* SPDX-License-Identifier: BSD-2-Clause */
/* LoadModel, UnloadModel, ListModels: load models into the store, remove and list them. */
#include <string.h>

#include "methods/constraints.h"
#include "methods/contact_surfaces.h"
#include "methods/description.h"
#include "methods/model_insertion.h"
#include "methods/machine_elements.h"
#include "methods/methods.h"
#include "methods/summary.h"

/* Reads the options of the request. Missing ones come from its description; NULL: it has none. Returns false when the
 * call has ended. */
static bool read_options(call *c, const Dynamics__V1__LoadModelRequest *r,
                         const Dynamics__V1__ModelDescription *description, model_options *options) {
    *options = (model_options){
        .base = DYN_BASE_FIXED, .mimic = DYN_MIMIC_POLICY_COUPLED, .strict = r->strict, .has_gravity = r->gravity};
    if (description && (!description_read_base(c, "description.base_type", description->base_type, &options->base) ||
                        !description_read_mimic(c, "description.mimic", description->mimic, &options->mimic))) {
        return false;
    }
    if (!description_read_base(c, "base_type", r->base_type, &options->base) ||
        !description_read_mimic(c, "mimic", r->mimic, &options->mimic)) {
        return false;
    }
    if (r->gravity) {
        options->gravity[0] = r->gravity->x;
        options->gravity[1] = r->gravity->y;
        options->gravity[2] = r->gravity->z;
    }
    return true;
}

/* Ends the call with an error of a URDF text, such as "urdf:12" with the number of the line. */
static void fail_urdf(call *c, const dyn_error *error) {
    if (error->site.element.line > 0) {
        call_blame(c, "urdf:%d", error->site.element.line);
    } else {
        call_blame(c, "urdf");
    }
    description_fail_element(c, error);
}

/* Ends the call with an error of the text of loops, such as "loops:3" with the number of the line. */
static void fail_loops(call *c, const dyn_error *error) {
    if (error->site.element.line > 0) {
        call_blame(c, "loops:%d", error->site.element.line);
    } else {
        call_blame(c, "loops");
    }
    call_fail(c, reason_of_error(error), "%s", error->message);
}

/* Ends the call with an error of the builder. Its field is a member of the request for errors about the name and the
 * gravity, otherwise an element of the description. */
static void fail_load(call *c, const dyn_error *error) {
    const Dynamics__V1__LoadModelRequest *r = c->request->load_model;
    const char *argument = error->site.argument ? error->site.argument : "";
    if (strcmp(argument, "name") == 0) {
        insertion_fail_name(c, error);
        return;
    }
    if (argument[0] != '\0') {
        if (!contact_surfaces_blame(c, &error->site)) {
            call_blame(c, "%s", argument);
        }
        description_fail_element(c, error);
        return;
    }
    switch (r->source_case) {
    case DYNAMICS__V1__LOAD_MODEL_REQUEST__SOURCE_DESCRIPTION:
        description_fail(c, r->description, error);
        break;
    case DYNAMICS__V1__LOAD_MODEL_REQUEST__SOURCE_DENAVIT_HARTENBERG:
        description_fail_table(c, error);
        break;
    case DYNAMICS__V1__LOAD_MODEL_REQUEST__SOURCE_SCREWS:
        description_fail_screws(c, error);
        break;
    default:
        fail_urdf(c, error);
    }
    if (strcmp(error->place, "links") == 0) {
        call_set_limit(c, BOUND_LINKS, atomic_load(&c->service->limits->links), 0);
    }
}

static bool read_urdf(call *c, const char *urdf, dyn_report **report, dyn_builder **builder) {
    dyn_error error = {0};
    if (urdf[0] == '\0') {
        call_blame(c, "urdf");
        call_fail(c, REASON_MISSING_VALUE, "urdf is empty; pass the text of a URDF file");
        return false;
    }
    size_t length = strlen(urdf);
    if (length > DYN_URDF_MAX_BYTES) {
        call_blame(c, "urdf");
        call_fail(c, REASON_MODEL_TOO_LARGE, "the document has %zu bytes; at most %d are read", length,
                  DYN_URDF_MAX_BYTES);
        call_set_limit(c, BOUND_URDF_BYTES, DYN_URDF_MAX_BYTES, length);
        return false;
    }
    dyn_status status = dyn_report_create(report);
    if (status != DYN_OK) {
        call_fail_memory(c);
    } else if ((status = dyn_urdf_read(urdf, length, *report, builder, &error)) != DYN_OK) {
        fail_urdf(c, &error);
    }
    return status == DYN_OK && constraints_check_count(c, "urdf", (size_t)dyn_builder_constraint_count(*builder));
}

/* Adds the loops that the request states beside the description. Creates the report if there is none yet. Returns false
 * when the call has ended with an error. */
static bool add_loops(call *c, const Dynamics__V1__LoadModelRequest *r, dyn_report **report, dyn_builder *builder) {
    dyn_error error = {0};
    size_t length = strlen(r->loops);
    if (!r->cut_loops && length == 0) {
        return true;
    }
    if (!*report && dyn_report_create(report) != DYN_OK) {
        call_fail_memory(c);
        return false;
    }
    if (r->cut_loops && dyn_builder_cut_loops(builder, *report, &error) != DYN_OK) {
        fail_load(c, &error);
        return false;
    }
    if (length > 0 && dyn_builder_read_loops(builder, r->loops, length, *report, &error) != DYN_OK) {
        fail_loops(c, &error);
        return false;
    }
    return constraints_check_count(c, length > 0 ? "loops" : "cut_loops",
                                   (size_t)dyn_builder_constraint_count(builder));
}

/* Adds the transmissions of the URDF text if the request wants them. Returns false when the call has ended. */
static bool add_transmissions(call *c, const Dynamics__V1__LoadModelRequest *r, dyn_builder *builder) {
    dyn_error error = {0};
    if (!r->transmissions) {
        return true;
    }
    if (r->source_case != DYNAMICS__V1__LOAD_MODEL_REQUEST__SOURCE_URDF) {
        call_blame(c, "transmissions");
        call_fail(c, REASON_UNUSED_FIELD, "only a URDF text has transmissions; leave it out");
        return false;
    }
    if (dyn_builder_read_transmissions(builder, r->urdf, strlen(r->urdf), &error) != DYN_OK) {
        fail_urdf(c, &error);
        return false;
    }
    return machine_elements_check_count(c, "urdf", (size_t)dyn_builder_machine_element_count(builder));
}

/* Creates a builder from the description of the request. `report` receives the report of a URDF reader, or stays NULL;
 * the caller frees it also on failure. Returns false when the call has ended. */
static bool read_source(call *c, const Dynamics__V1__LoadModelRequest *r, dyn_report **report, dyn_builder **builder) {
    switch (r->source_case) {
    case DYNAMICS__V1__LOAD_MODEL_REQUEST__SOURCE_URDF:
        return read_urdf(c, r->urdf, report, builder);
    case DYNAMICS__V1__LOAD_MODEL_REQUEST__SOURCE_DESCRIPTION:
        return description_read(c, r->description, builder);
    case DYNAMICS__V1__LOAD_MODEL_REQUEST__SOURCE_DENAVIT_HARTENBERG:
        return description_read_table(c, r->denavit_hartenberg, builder);
    case DYNAMICS__V1__LOAD_MODEL_REQUEST__SOURCE_SCREWS:
        return description_read_screws(c, r->screws, builder);
    default:
        call_blame(c, "source");
        call_fail(c, REASON_MISSING_VALUE,
                  "there is no description; pass one of urdf, description, denavit_hartenberg and screws");
        return false;
    }
}

void method_prepare_load_model(call *c) {
    const Dynamics__V1__LoadModelRequest *r = c->request->load_model;
    bool is_described = r->source_case == DYNAMICS__V1__LOAD_MODEL_REQUEST__SOURCE_DESCRIPTION;
    model_options options;
    dyn_error error = {0};
    dyn_report *report = NULL;
    dyn_builder *builder = NULL;
    if (!insertion_check(c, r->replace, r->expected_digest) ||
        !read_options(c, r, is_described ? r->description : NULL, &options)) {
        return;
    }
    if (!read_source(c, r, &report, &builder) || !add_loops(c, r, &report, builder) ||
        !add_transmissions(c, r, builder)) {
        dyn_report_free(report);
        dyn_builder_free(builder);
        return;
    }
    dyn_status status = model_entry_build(builder, report, r->name, "", &options,
                                          atomic_load(&c->service->limits->links), &error, &c->built);
    dyn_builder_free(builder);
    if (status != DYN_OK) {
        fail_load(c, &error);
    }
}

void method_load_model(call *c) {
    bool was_present;
    const Dynamics__V1__LoadModelRequest *r = c->request->load_model;
    const insertion_options options = {
        .replaced = insertion_replaced(r->replace, r->expected_digest), .on_disk = r->keep, .request = r};
    model_entry *stored = insert_built_model(c, &options, &was_present);
    Dynamics__V1__LoadModelReply *reply = stored ? create_load_model_reply(c) : NULL;
    if (reply) {
        reply->loaded = summary_loaded(c, stored, was_present);
    }
    model_entry_release(stored);
}

void method_unload_model(call *c) {
    model_entry *found = call_find_model(c, c->request->unload_model->model);
    if (!found) {
        return;
    }
    Dynamics__V1__UnloadModelReply *reply = create_unload_model_reply(c);
    Dynamics__V1__ModelSummary *summary = summary_create(c, found);
    bool is_removed = !call_has_ended(c) && remove_model(c, found);
    call_set_model(c, found);
    model_entry_release(found);
    if (is_removed) {
        reply->model = summary;
    }
}

void method_list_models(call *c) {
    model_entry **entries;
    size_t count;
    Dynamics__V1__ListModelsReply *reply = create_list_models_reply(c);
    if (!reply || !model_store_list(c->service->store, &entries, &count)) {
        call_fail_memory(c);
        return;
    }
    reply->models = call_allocate(c, count, sizeof *reply->models);
    for (size_t i = 0; reply->models && i < count; i++) {
        reply->models[i] = summary_create(c, entries[i]);
        reply->n_models = i + 1;
    }
    model_store_release_list(entries, count);
}
