/* SPDX-License-Identifier: BSD-2-Clause */
#include "methods/parameter_choice.h"

#include <dynamics/base_parameters.h>
#include <string.h>

#include "methods/bounds.h"

static bool proceed(void *context, double fraction) {
    return call_proceed(context, fraction);
}

/* Reads the terms of drives to estimate. Returns false when the call has ended. */
static bool read_terms(call *c, const parameter_choice *r, dyn_identification_options *o) {
    if (r->ignore_drives && (r->term_count > 0 || r->drives_only)) {
        call_blame(c, "ignore_drives");
        call_fail(
            c, REASON_CONFLICTING_FIELDS,
            "terms of drives are both wanted and ignored; leave out ignore_drives, or drive_terms and drives_only");
        return false;
    }
    for (int t = 0; t < DYN_DRIVE_TERMS && (r->ignore_drives || r->term_count > 0); t++) {
        o->drive_terms[t] = false;
    }
    for (size_t i = 0; i < r->term_count; i++) {
        int term = (int)r->terms[i];
        if (term < 0 || term >= DYN_DRIVE_TERMS) {
            call_blame(c, "drive_terms[%zu]", i);
            call_fail(
                c, REASON_UNKNOWN_VALUE,
                "the term is %d; pass VISCOUS (0), COULOMB (1), OFFSET (2), INERTIA (3), STRIBECK (4) or LOAD (5)",
                term);
            return false;
        }
        o->drive_terms[term] = true;
    }
    return true;
}

/* Reads the links whose inertias are sought. The library checks that they move. */
static bool read_links(batch *b, const parameter_choice *r, dyn_identification_options *o) {
    int *links = call_allocate(b->call, r->link_count + 1, sizeof *links);
    for (size_t i = 0; links && i < r->link_count; i++) {
        call_blame(b->call, "links[%zu]", i);
        if (!batch_find_frame(b, REASON_LINK_NOT_FOUND, r->links[i], &links[i])) {
            return false;
        }
    }
    o->links = r->link_count > 0 ? links : NULL;
    o->link_count = r->link_count;
    call_blame(b->call, "payload_link");
    if (r->payload_link[0] != '\0' && !batch_find_frame(b, REASON_LINK_NOT_FOUND, r->payload_link, &o->payload_link)) {
        return false;
    }
    if (r->payload_link[0] != '\0' && o->payload_link == DYN_WORLD_FRAME) {
        call_fail(b->call, REASON_INVALID_VALUE, "the world carries no payload; name a link of the robot");
    }
    b->call->field[0] = '\0';
    return !call_has_ended(b->call);
}

bool parameter_choice_fits(batch *b) {
    int joints = dyn_model_joint_count(b->model);
    if (joints <= MOST_BASE_PARAMETER_JOINTS) {
        return true;
    }
    call_blame(b->call, "query.model");
    call_fail(b->call, REASON_MODEL_TOO_LARGE,
              "the model has %d moving joints; parameters are identified for at most %d: take a part of it "
              "(DeriveModel)",
              joints, MOST_BASE_PARAMETER_JOINTS);
    call_set_limit(b->call, BOUND_BASE_PARAMETER_JOINTS, MOST_BASE_PARAMETER_JOINTS, (uint64_t)joints);
    return false;
}

bool parameter_choice_read(batch *b, const parameter_choice *from, dyn_identification_options *o) {
    o->gravity = b->values.gravity;
    o->drives_only = from->drives_only;
    o->most_estimates = atomic_load(&b->call->service->limits->estimates);
    o->friction_velocity = from->friction_velocity != 0 ? from->friction_velocity : o->friction_velocity;
    o->stribeck_velocity = from->stribeck_velocity != 0 ? from->stribeck_velocity : o->stribeck_velocity;
    o->proceed = proceed;
    o->context = b->call;
    return read_terms(b->call, from, o) && read_links(b, from, o);
}

void parameter_choice_fail(batch *b, const dyn_error *error) {
    bool is_large = error->site.cause == DYN_CAUSE_TOO_MANY, is_estimates = strcmp(error->place, "most_estimates") == 0;
    if (!is_large || (!is_estimates && strcmp(error->place, "model") != 0)) {
        batch_fail(b, 0, error);
        return;
    }
    call_blame(b->call, "query.model");
    call_fail(b->call, REASON_MODEL_TOO_LARGE, "%s", error->message);
    if (is_estimates) {
        call_set_limit(b->call, BOUND_ESTIMATES, atomic_load(&b->call->service->limits->estimates), 0);
    } else {
        call_set_limit(b->call, BOUND_COUPLED_BASE_PARAMETER_JOINTS, DYN_BASE_PARAMETER_COUPLED_JOINTS,
                       (uint64_t)dyn_model_joint_count(b->model));
    }
}

const dyn_joint *joint_of_coordinate(const dyn_model *model, int coordinate) {
    for (int j = 0; j < dyn_model_joint_count(model); j++) {
        const dyn_joint *joint = dyn_model_joint(model, j);
        if (coordinate >= joint->v_index && coordinate < joint->v_index + joint->nv) {
            return joint;
        }
    }
    return dyn_model_joint(model, 0);
}
