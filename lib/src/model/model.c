/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Builds a model from a description, frees it, and returns its parts.
 */
#include <stdlib.h>
#include <string.h>

#include "base_report.h"
#include "compile.h"
#include "constraint.h"
#include "contact_surface.h"
#include "error.h"
#include "load_report.h"
#include "machine_element.h"
#include "sized.h"

/* Checks the options, and that no joint has the name of the floating joint. */
static dyn_status check_options(const dyn_builder *builder, const dyn_build_options *options, dyn_error *error) {
    if (options->base != DYN_BASE_FIXED && options->base != DYN_BASE_FLOATING) {
        const dyn_error_site site = {.argument = "base"};
        return dyn_error_at(error, DYN_INVALID_ARGUMENT, &site, "%d is no base", (int)options->base);
    }
    if (options->mimic != DYN_MIMIC_POLICY_COUPLED && options->mimic != DYN_MIMIC_POLICY_INDEPENDENT) {
        const dyn_error_site site = {.argument = "mimic"};
        return dyn_error_at(error, DYN_INVALID_ARGUMENT, &site, "%d is no mimic policy", (int)options->mimic);
    }
    int root_joint = name_index_find(&builder->joint_names, "root_joint");
    if (options->base == DYN_BASE_FLOATING && root_joint >= 0) {
        return builder_fail(builder, error, DYN_INVALID_ARGUMENT, joint_element(builder, "root_joint"),
                            "this name is that of the joint that carries a floating base; rename the joint");
    }
    return DYN_OK;
}

/* Builds a model without checking `strict`; the report may be NULL. The caller frees the model, also after an error. */
static dyn_status build(const dyn_builder *builder, const dyn_build_options *options, dyn_report *report,
                        dyn_error *error, dyn_model *model) {
    tree links;
    coupling *couplings = calloc((size_t)builder->joint_count + 1, sizeof *couplings);
    dyn_status status = tree_find(builder, error, &links);
    if (status == DYN_OK && !couplings) {
        status = dyn_error_memory(error);
    }
    if (status == DYN_OK) {
        status = mimic_resolve(builder, options->mimic, report, error, couplings);
    }
    if (status == DYN_OK) {
        status = check_machine_elements(builder, error);
    }
    if (status == DYN_OK) {
        status = check_contact_surfaces(builder, error);
    }
    if (status == DYN_OK) {
        status = compile_model(builder, &links, couplings, options, error, model);
    }
    if (status == DYN_OK) {
        status = compile_constraints(builder, error, model);
    }
    if (status == DYN_OK) {
        status = inspect_model(builder, &links, model, report, error);
    }
    if (status == DYN_OK && report && !base_report(builder, &links, options->base, report)) {
        status = dyn_error_memory(error);
    }
    model->options = *options;
    tree_clear(&links);
    free(couplings);
    return status;
}

/* Refuses a model whose report contains a warning; called under `strict`. */
static dyn_status refuse_warnings(const dyn_builder *builder, const dyn_report *report, dyn_error *error) {
    for (size_t i = 0; i < dyn_report_count(report); i++) {
        dyn_report_entry entry = dyn_report_at(report, i);
        if (entry.severity == DYN_SEVERITY_WARNING) {
            return builder_fail_at(builder, error, DYN_INVALID_ARGUMENT, &entry.element, entry.place,
                                   "%s (refused, since strict loading takes a warning for an error)", entry.message);
        }
    }
    return DYN_OK;
}

/* Builds all of the model except its description. */
static dyn_status build_checked(const dyn_builder *builder, const dyn_build_options *options, dyn_report *report,
                                dyn_error *error, dyn_model **model) {
    dyn_build_options chosen = DYN_BUILD_OPTIONS_INIT();
    dyn_report *own = NULL, *used = report;
    dyn_model *built = NULL;
    *model = NULL;
    dyn_status status = dyn_sized_read("options", options, sizeof chosen, &chosen, error);
    if (status == DYN_OK) {
        status = check_options(builder, &chosen, error);
    }
    if (status != DYN_OK) {
        return status;
    }
    if (!used && chosen.strict && dyn_report_create(&own) == DYN_OK) {
        used = own;
    }
    built = calloc(1, sizeof *built);
    if (!built || (!used && chosen.strict)) {
        status = dyn_error_memory(error);
        goto cleanup;
    }
    status = build(builder, &chosen, used, error, built);
    if (status == DYN_OK && report_is_incomplete(used)) {
        status = dyn_error_memory(error);
    }
    if (status == DYN_OK && chosen.strict) {
        status = refuse_warnings(builder, used, error);
    }
    if (status == DYN_OK) {
        *model = built;
        built = NULL;
    }
cleanup:
    dyn_model_free(built);
    dyn_report_free(own);
    return status;
}

dyn_status builder_build_own(dyn_builder *builder, const dyn_build_options *options, dyn_report *report,
                             dyn_error *error, dyn_model **model) {
    dyn_status status = build_checked(builder, options, report, error, model);
    if (status == DYN_OK) {
        (*model)->description = builder;
    } else {
        dyn_builder_free(builder);
    }
    return status;
}

dyn_status dyn_builder_build(const dyn_builder *builder, const dyn_build_options *options, dyn_report *report,
                             dyn_model **model, dyn_error *error) {
    dyn_status status = build_checked(builder, options, report, error, model);
    if (status == DYN_OK) {
        status = builder_copy(builder, error, &(*model)->description);
    }
    if (status != DYN_OK) {
        dyn_model_free(*model);
        *model = NULL;
    }
    return status;
}

void dyn_model_free(dyn_model *model) {
    if (!model) {
        return;
    }
    name_index_clear(&model->link_names);
    name_index_clear(&model->joint_names);
    dyn_builder_free(model->description);
    free_constraints(model);
    free(model->rotors);
    free(model->stages);
    free(model->pieces);
    free(model->motions);
    free(model->bodies);
    free(model->joints);
    free(model->links);
    free(model->frames);
    free(model->name);
    free(model);
}

const char *dyn_model_name(const dyn_model *model) {
    return model->name;
}

int dyn_model_nq(const dyn_model *model) {
    return model->nq;
}

int dyn_model_nv(const dyn_model *model) {
    return model->nv;
}

int dyn_model_joint_count(const dyn_model *model) {
    return model->joint_count;
}

const dyn_joint *dyn_model_joint(const dyn_model *model, int joint) {
    return joint >= 0 && joint < model->joint_count ? &model->joints[joint] : NULL;
}

int dyn_model_link_count(const dyn_model *model) {
    return model->link_count;
}

const dyn_link *dyn_model_link(const dyn_model *model, int link) {
    return link >= 0 && link < model->link_count ? &model->links[link] : NULL;
}

int dyn_model_find_joint(const dyn_model *model, const char *name) {
    int link = name_index_find(&model->joint_names, name);
    int joint = link >= 0 ? model->links[link].moving_joint : -1;
    return joint >= 0 && model->joints[joint].child_link == link ? joint : -1;
}

dyn_status dyn_model_find_frame(const dyn_model *model, const char *name, int *frame, dyn_error *error) {
    int link = name_index_find(&model->link_names, name);
    if (link < 0) {
        link = name_index_find(&model->joint_names, name);
    }
    if (link < 0 && strcmp(name, "world") != 0) {
        return dyn_error_because(error, DYN_NOT_FOUND, DYN_CAUSE_FRAME, "frame",
                                 "robot %s has no link and no joint named \"%s\"", model->name, name);
    }
    *frame = link >= 0 ? link : DYN_WORLD_FRAME;
    return DYN_OK;
}

void dyn_model_gravity(const dyn_model *model, double gravity[3]) {
    memcpy(gravity, model->gravity, sizeof model->gravity);
}

bool dyn_model_is_floating(const dyn_model *model) {
    return model->floating;
}

bool dyn_model_has_coupling(const dyn_model *model) {
    bool has = false;
    for (int j = 0; j < model->joint_count; j++) {
        has = has || model->joints[j].master >= 0;
    }
    return has;
}

double dyn_model_mass(const dyn_model *model) {
    double mass = 0;
    for (int i = 0; i < model->body_count; i++) {
        mass += model->bodies[i].mass;
    }
    return mass;
}
