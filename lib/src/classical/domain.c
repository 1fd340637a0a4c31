/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Models that a formulation applies to.
 */
#include "../model/error.h"
#include "../model/normal_form.h"
#include "classical.h"

static dyn_status refuse(const dyn_formulation_traits *traits, const dyn_model *model, const body *b, const char *what,
                         dyn_error *error) {
    const char *joint = model->joints[b->joint].name;
    const dyn_error_site site = {.argument = "formulation", .has_joint = true, .joint = b->joint};
    return dyn_error_at(error, DYN_FAILED_PRECONDITION, &site, "%s does not apply: joint %s %s; choose another one",
                        traits->name, joint, what);
}

dyn_status dyn_check_formulation(const dyn_formulation_traits *traits, const dyn_model *model, dyn_error *error) {
    int size = model->nv > model->body_count ? model->nv : model->body_count;
    if (size > traits->most_coordinates) {
        const dyn_error_site site = {.argument = "formulation"};
        return dyn_error_at(
            error, DYN_FAILED_PRECONDITION, &site,
            "%s does not apply: the model has %d joints or coordinates, and its time and memory allow %d at most; "
            "choose another one",
            traits->name, size, traits->most_coordinates);
    }
    for (int i = 0; i < model->body_count; i++) {
        const body *b = &model->bodies[i];
        if (traits->serial && b->parent != i - 1) {
            return refuse(traits, model, b, "branches off, and it needs a serial chain", error);
        }
        if (traits->one_coordinate && b->nv != 1) {
            return refuse(traits, model, b, "has several coordinates, and it needs joints of one", error);
        }
        if (traits->rotary && b->motion != MOTION_REVOLUTE) {
            return refuse(traits, model, b, "is not revolute, and it needs revolute joints", error);
        }
        if (traits->independent && model->joints[b->joint].master >= 0) {
            return refuse(traits, model, b, "mimics another one, and it needs independent joints", error);
        }
    }
    return DYN_OK;
}
