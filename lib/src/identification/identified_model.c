/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Models with identified parameters.
 */
#include <dynamics/identification.h>

#include <stdlib.h>
#include <string.h>

#include <dynamics/inertia.h>
#include <dynamics/regressor.h>

#include "../model/derivation.h"
#include "../model/error.h"

enum { LINK = 10 };

/* Returns whether the parameters of a joint are those of the model. */
static bool is_own(const double *own, const double *parameters, int joint) {
    return memcmp(own + LINK * joint, parameters + LINK * joint, LINK * sizeof *own) == 0;
}

/* Changes the inertia of the links that move with each joint whose parameters are not the model's `own`. */
static dyn_status change_links(const dyn_model *model, const double *own, const double *parameters, dyn_builder *copy,
                               dyn_error *error) {
    for (int i = 0; i < dyn_model_link_count(model); i++) {
        const dyn_link *link = dyn_model_link(model, i);
        int at = name_index_find(&copy->link_names, link->name);
        if (link->moving_joint < 0 || at < 0 || is_own(own, parameters, link->moving_joint)) {
            continue;
        }
        dyn_inertia *inertia = &copy->links[at].inertia;
        *inertia = (dyn_inertia){0};
        if (dyn_model_joint(model, link->moving_joint)->child_link != i) {
            continue;
        }
        const double *p = parameters + LINK * link->moving_joint;
        dyn_status status = dyn_inertia_from_parameters(p, inertia, error);
        if (status != DYN_OK) {
            return dyn_error_set(error, status, "parameters", "link %s: the mass is %g; pass a positive one",
                                 link->name, p[0]);
        }
    }
    return DYN_OK;
}

static dyn_status change_inertias(const dyn_model *model, const double *parameters, dyn_builder *copy,
                                  dyn_error *error) {
    double *own = calloc((size_t)dyn_model_parameter_count(model) + 1, sizeof *own);
    if (!own) {
        return dyn_error_memory(error);
    }
    dyn_model_parameters(model, own);
    dyn_status status = change_links(model, own, parameters, copy, error);
    free(own);
    return status;
}

/* Changes the friction of joints with one coordinate. */
static dyn_status change_friction(const dyn_model *model, const double *drives, dyn_builder *copy, dyn_error *error) {
    for (int j = 0; j < dyn_model_joint_count(model); j++) {
        const dyn_joint *joint = dyn_model_joint(model, j);
        int at = name_index_find(&copy->joint_names, joint->name);
        if (joint->nv != 1 || at < 0) {
            continue;
        }
        for (int term = DYN_DRIVE_TERM_VISCOUS; term <= DYN_DRIVE_TERM_COULOMB; term++) {
            size_t i = (size_t)joint->v_index * DYN_DRIVE_TERMS + (size_t)term;
            if (!(drives[i] >= 0)) {
                const dyn_error_site site = {.argument = "drives", .has_index = true, .index = i};
                return dyn_error_at(error, DYN_INVALID_ARGUMENT, &site,
                                    "joint %s: the friction is %g; pass a number that is not negative", joint->name,
                                    drives[i]);
            }
            *(term == DYN_DRIVE_TERM_VISCOUS ? &copy->joints[at].damping : &copy->joints[at].friction) = drives[i];
        }
    }
    return DYN_OK;
}

dyn_status dyn_model_with_parameters(const dyn_model *model, const double *parameters, const double *drives,
                                     dyn_model **result, dyn_error *error) {
    dyn_builder *copy;
    *result = NULL;
    dyn_status status = derivation_begin(model, error, &copy);
    if (status != DYN_OK) {
        return status;
    }
    if (parameters) {
        status = change_inertias(model, parameters, copy, error);
    }
    if (status == DYN_OK && drives) {
        status = change_friction(model, drives, copy, error);
    }
    return derivation_finish(copy, model_base(model), status, error, result);
}
