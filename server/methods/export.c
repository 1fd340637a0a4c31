/* SPDX-License-Identifier: BSD-2-Clause */
/* ExportModel: writes a model as a description, as URDF, or as screws. */
#include <dynamics/dynamics.h>
#include <stdlib.h>

#include "methods/description.h"
#include "methods/lookup.h"
#include "methods/methods.h"
#include "methods/summary.h"

/* Approximate cost of one link, ns. */
static const double LINK_COST = 2000;

/* Writes the model as a URDF document in the call's memory. Returns NULL when the call has ended. */
static char *write_urdf(call *c, const dyn_model *model) {
    char *text;
    size_t length;
    dyn_error error;
    dyn_status status = dyn_urdf_write_model(model, &text, &length, &error);
    if (status != DYN_OK) {
        call_blame(c, "format");
        description_fail_element(c, &error);
        return NULL;
    }
    char *copy = call_string(c, text);
    dyn_text_free(text);
    return copy;
}

/* Finds the frame at which the screws end: the tip of the request, or else the last link. Returns false when the call
 * has ended. */
static bool find_tip(call *c, const model_entry *entry, int *tip) {
    const char *name = c->request->export_model->tip;
    refusal why;
    *tip = dyn_model_link_count(entry->model) - 1;
    if (name[0] == '\0' || lookup_frame(entry, REASON_FRAME_NOT_FOUND, "tip", name, tip, &why)) {
        return true;
    }
    call_refuse(c, &why);
    return false;
}

/* Writes the model in the requested format into the reply, or ends the call. */
static void write_model(call *c, const model_entry *entry, Dynamics__V1__ExportModelReply *reply) {
    const Dynamics__V1__ExportModelRequest *r = c->request->export_model;
    int tip;
    switch (r->format) {
    case DYNAMICS__V1__MODEL_FORMAT__MODEL_FORMAT_DESCRIPTION:
        reply->form_case = DYNAMICS__V1__EXPORT_MODEL_REPLY__FORM_DESCRIPTION;
        reply->description = description_write(c, entry->model);
        break;
    case DYNAMICS__V1__MODEL_FORMAT__MODEL_FORMAT_URDF:
        reply->form_case = DYNAMICS__V1__EXPORT_MODEL_REPLY__FORM_URDF;
        reply->urdf = write_urdf(c, entry->model);
        break;
    case DYNAMICS__V1__MODEL_FORMAT__MODEL_FORMAT_SCREWS:
        reply->form_case = DYNAMICS__V1__EXPORT_MODEL_REPLY__FORM_SCREWS;
        reply->screws = find_tip(c, entry, &tip) ? description_write_screws(c, entry->model, tip) : NULL;
        break;
    default:
        call_blame(c, "format");
        call_fail(c, REASON_UNKNOWN_VALUE, "format is %d; pass DESCRIPTION (1), URDF (2) or SCREWS (3)",
                  (int)r->format);
    }
}

void method_export_model(call *c) {
    model_entry *entry = call_find_model(c, c->request->export_model->model);
    if (!entry) {
        return;
    }
    if (!call_defer(c, LINK_COST * dyn_model_link_count(entry->model))) {
        Dynamics__V1__ExportModelReply *reply = create_export_model_reply(c);
        if (reply) {
            call_set_model(c, entry);
            reply->model = summary_create(c, entry);
            write_model(c, entry, reply);
        }
    }
    model_entry_release(entry);
}
