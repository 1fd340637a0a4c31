/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Payloads of a workspace: a private copy of the model's bodies, with different inertias.
 */
#include <dynamics/payload.h>

#include <stdio.h>
#include <string.h>

#include <dynamics/inertia.h>

#include "../model/error.h"
#include "../model/group_inertias.h"
#include "../model/merge.h"
#include "../model/rotor.h"
#include "../model/round_constants.h"
#include "precision.h"
#include "workspace.h"

/* Returns whether mass and inertia are zero. */
static bool is_nothing(const dyn_inertia *inertia) {
    bool nothing = inertia->mass == 0;
    for (int i = 0; i < 6; i++) {
        nothing = nothing && inertia->rotational[i] == 0;
    }
    return nothing;
}

static dyn_status check_payload(const dyn_model *model, size_t k, const dyn_payload *payload, dyn_error *error) {
    dyn_error_site site = {
        .cause = DYN_CAUSE_FRAME, .argument = "payloads", .has_item = true, .item = k, .part = "link"};
    if (payload->link < 0 || payload->link >= model->link_count) {
        return dyn_error_at(error, DYN_NOT_FOUND, &site, "there is no link %d; the model has %d", payload->link,
                            model->link_count);
    }
    dyn_error bad;
    if (is_nothing(&payload->inertia) || dyn_inertia_check(&payload->inertia, &bad) == DYN_OK) {
        return DYN_OK;
    }
    site.cause = bad.site.cause;
    site.part = "inertia";
    return dyn_error_at(error, bad.status, &site, "link %s: %s", model->links[payload->link].name, bad.message);
}

/* Returns whether one of the payloads replaces the own inertia of a link. */
static bool is_replaced(int link, size_t count, const dyn_payload *payloads) {
    for (size_t k = 0; k < count; k++) {
        if (payloads[k].link == link && payloads[k].replaces) {
            return true;
        }
    }
    return false;
}

/* Merges the inertias of links and payloads into the bodies, in the order in which building the model does. */
static void merge_payloads(const dyn_model *model, size_t count, const dyn_payload *payloads, body *bodies) {
    for (int i = 0; i < model->body_count; i++) {
        body_clear_inertia(&bodies[i]);
    }
    for (int i = 0; i < model->link_count; i++) {
        const body_frame *frame = &model->frames[i];
        if (frame->body >= 0 && !is_replaced(i, count, payloads)) {
            body_merge(&bodies[frame->body], &model->links[i].inertia, &frame->pose);
        }
    }
    for (size_t k = 0; k < count; k++) {
        const body_frame *frame = &model->frames[payloads[k].link];
        if (frame->body >= 0 && !is_nothing(&payloads[k].inertia)) {
            body_merge(&bodies[frame->body], &payloads[k].inertia, &frame->pose);
        }
    }
    merge_rotors(model, bodies);
    group_inertias(model, bodies);
    round_constants(bodies, model->body_count);
}

dyn_status dyn_workspace_load(dyn_workspace *workspace, size_t count, const dyn_payload *payloads,
                              const dyn_model **loaded, dyn_error *error) {
    const dyn_model *model = workspace->model;
    for (size_t k = 0; k < count; k++) {
        dyn_status status = check_payload(model, k, &payloads[k], error);
        if (status != DYN_OK) {
            return status;
        }
    }
    body *bodies = workspace->loaded_bodies;
    memcpy(bodies, model->bodies, (size_t)model->body_count * sizeof *bodies);
    merge_payloads(model, count, payloads, bodies);
    *workspace->loaded = *model;
    workspace->loaded->bodies = bodies;
    workspace->loaded->unresisted = count > 0 ? -1 : model->unresisted;
    *loaded = workspace->loaded;
    dyn_status status = dyn_check_constants(workspace->precision, workspace->loaded, error);
    if (status != DYN_OK) {
        memcpy(bodies, model->bodies, (size_t)model->body_count * sizeof *bodies);
    }
    return status;
}
