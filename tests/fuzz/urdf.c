/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fuzz target: reads any bytes as the text of a description if they begin like one, otherwise as URDF. The reader
 * refuses them with a place and a message, or builds a consistent model. The description that the library writes for
 * this model builds an equal model.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dynamics/dynamics.h>

#include "target.h"

/* Largest number of velocities for which dynamics is computed, to save time. */
enum { MAX_VELOCITIES = 64 };

static void require(int holds, const char *property) {
    if (!holds) {
        fprintf(stderr, "does not hold: %s\n", property);
        abort();
    }
}

static void check_finite(const double *values, int count) {
    for (int i = 0; i < count; i++) {
        require(isfinite(values[i]), "numbers are finite");
    }
}

/* Checks that joints and links refer to each other within bounds. */
static void check_structure(const dyn_model *model) {
    int nq = 0, nv = 0, frame;
    for (int j = 0; j < dyn_model_joint_count(model); j++) {
        const dyn_joint *joint = dyn_model_joint(model, j);
        require(joint->master >= 0 || (joint->q_index == nq && joint->v_index == nv), "coordinates are in order");
        check_finite(joint->origin.position, 3);
        check_finite(joint->axis, 3);
        nq += joint->nq;
        nv += joint->nv;
        require(dyn_model_find_joint(model, joint->name) == j, "joints are found by name");
    }
    require(nq == dyn_model_nq(model) && nv == dyn_model_nv(model), "coordinates add up");
    for (int i = 0; i < dyn_model_link_count(model); i++) {
        const dyn_link *link = dyn_model_link(model, i);
        require(dyn_model_find_frame(model, link->name, &frame, NULL) == DYN_OK && frame == i, "links are found");
        check_finite(link->pose.position, 3);
        check_finite(link->pose.rotation, 9);
        check_finite(link->inertia.rotational, 6);
        require(link->moving_joint < dyn_model_joint_count(model), "links move with joints that there are");
    }
}

/* Checks that a result of `count` numbers is finite, or that an error explains the refusal. */
static void check_result(dyn_status status, const dyn_error *error, const double *values, int count) {
    if (status == DYN_OK) {
        check_finite(values, count);
    } else {
        require(error->status == status && error->place[0] != '\0' && error->message[0] != '\0', "errors explain");
    }
}

/* Checks that the torques of the RNEA and the accelerations of the ABA at the home configuration are finite or refused.
 * Skips models of more than MAX_VELOCITIES velocities. */
static void check_dynamics(const dyn_model *model) {
    double q[2 * MAX_VELOCITIES], v[MAX_VELOCITIES] = {0}, result[MAX_VELOCITIES];
    dyn_workspace *workspace;
    dyn_error error;
    int nv = dyn_model_nv(model);
    if (nv > MAX_VELOCITIES || dyn_workspace_create(model, &workspace, NULL) != DYN_OK) {
        return;
    }
    dyn_home_configuration(model, q);
    dyn_status status = dyn_rnea(model, workspace, 1, NULL, q, v, NULL, NULL, result, &error);
    check_result(status, &error, result, nv);
    status = dyn_aba(model, workspace, 1, NULL, q, v, v, NULL, result, &error);
    check_result(status, &error, result, nv);
    dyn_workspace_free(workspace);
}

/* Checks that the written description of a model builds a model with the canonical description `canonical`. */
static void check_text(const dyn_model *model, const char *canonical) {
    char *text, *other;
    size_t length;
    dyn_builder *builder;
    dyn_build_options options = DYN_BUILD_OPTIONS_INIT();
    dyn_model *again;
    require(dyn_description_write(model, &text, &length, NULL) == DYN_OK, "the description is written");
    require(dyn_description_read(text, length, &builder, &options, NULL) == DYN_OK, "the description is read");
    require(dyn_builder_build(builder, &options, NULL, &again, NULL) == DYN_OK, "the description is built");
    require(dyn_model_canonical(again, &other, &length, NULL) == DYN_OK, "the other description is written");
    require(strcmp(canonical, other) == 0, "the text of a description is that of an equal model");
    dyn_text_free(text), dyn_text_free(other);
    dyn_builder_free(builder);
    dyn_model_free(again);
}

static void check_model(const dyn_model *model) {
    char *text;
    size_t length;
    require(dyn_model_canonical(model, &text, &length, NULL) == DYN_OK, "the canonical description is written");
    require(strlen(text) == length, "the canonical description is text");
    check_text(model, text);
    dyn_text_free(text);
    check_structure(model);
    check_dynamics(model);
}

static dyn_status load(const char *text, size_t size, const dyn_build_options *options, dyn_report *report,
                       dyn_error *error, dyn_model **model) {
    if (!dyn_description_is_text(text, size)) {
        return dyn_urdf_load(text, size, options, report, model, error);
    }
    dyn_builder *builder;
    dyn_build_options stated = DYN_BUILD_OPTIONS_INIT();
    *model = NULL;
    dyn_status status = dyn_description_read(text, size, &builder, &stated, error);
    if (status == DYN_OK) {
        status = dyn_builder_build(builder, options, report, model, error);
    }
    dyn_builder_free(builder);
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    for (int k = 0; k < 4; k++) {
        dyn_build_options options =
            DYN_BUILD_OPTIONS_INIT(.base = k % 2 ? DYN_BASE_FLOATING : DYN_BASE_FIXED,
                                   .mimic = k / 2 ? DYN_MIMIC_POLICY_INDEPENDENT : DYN_MIMIC_POLICY_COUPLED);
        dyn_report *report;
        dyn_model *model;
        dyn_error error = {.status = DYN_OK};
        if (dyn_report_create(&report) != DYN_OK) {
            return 0;
        }
        dyn_status status = load((const char *)data, size, &options, report, &error, &model);
        require((status == DYN_OK) == (model != NULL), "there is a model exactly on success");
        if (status == DYN_OK) {
            check_model(model);
        } else {
            require(error.status == status && error.place[0] != '\0' && error.message[0] != '\0', "errors explain");
        }
        dyn_model_free(model);
        dyn_report_free(report);
    }
    return 0;
}
