/* SPDX-License-Identifier: BSD-2-Clause */
#include "system/wire_tree.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void require(dyn_status status, const dyn_error *error) {
    ck_assert_msg(status == DYN_OK, "%s: %s", error->place, error->message);
}

void wire_require(dyn_client_status status, const dyn_client_error *error) {
    ck_assert_msg(status == DYN_CLIENT_OK, "%s: %s", error->field, error->message);
}

/* ---- descriptions ------------------------------------------------------------------------------------------------ */

/* Description, with the builder that owns its strings. */
typedef struct held_description {
    dyn_client_model_description form;
    dyn_builder *builder;
    double gravity[3];
} held_description;

static dyn_client_link link_form(const dyn_link_description *from) {
    dyn_client_link to = {.name = from->name, .inertia = {.mass = from->inertia.mass}};
    memcpy(to.inertia.center_of_mass, from->inertia.center_of_mass, sizeof to.inertia.center_of_mass);
    memcpy(to.inertia.rotational, from->inertia.rotational, sizeof to.inertia.rotational);
    return to;
}

static dyn_client_joint joint_form(const dyn_joint_description *from) {
    dyn_client_joint to = {.name = from->name,
                           .type = (dyn_client_joint_type)(from->type + DYN_CLIENT_JOINT_TYPE_FIXED),
                           .parent_link = from->parent_link,
                           .child_link = from->child_link,
                           .pitch = from->pitch,
                           .has_limits = from->has_limits,
                           .limits = {.lower = from->limits.lower,
                                      .upper = from->limits.upper,
                                      .velocity = from->limits.velocity,
                                      .effort = from->limits.effort},
                           .damping = from->damping,
                           .friction = from->friction,
                           .mimic_joint = from->mimic_joint,
                           .mimic_multiplier = from->mimic_joint ? &from->mimic_multiplier : NULL,
                           .mimic_offset = from->mimic_offset};
    memcpy(to.origin.position, from->position, sizeof to.origin.position);
    to.origin.rotation = from->rotation;
    memcpy(to.axis, from->axis, sizeof to.axis);
    memcpy(to.second_axis, from->second_axis, sizeof to.second_axis);
    return to;
}

static dyn_client_constraint_frame side_form(const dyn_constraint_frame *from) {
    dyn_client_constraint_frame to = {.link = from->link};
    memcpy(to.pose.position, from->pose.position, sizeof to.pose.position);
    to.pose.rotation = from->pose.rotation;
    return to;
}

/* Converts a loop joint, a distance or a point on a plane to the client's form. */
static dyn_client_constraint constraint_form(const dyn_constraint_description *from) {
    dyn_client_constraint to = {.name = from->name,
                                .kind = (dyn_client_constraint_kind)from->kind,
                                .predecessor = side_form(&from->predecessor),
                                .successor = side_form(&from->successor),
                                .type = (dyn_client_joint_type)(from->type + DYN_CLIENT_JOINT_TYPE_FIXED),
                                .pitch = from->pitch,
                                .distance = from->distance};
    ck_assert_int_ne(from->kind, DYN_CONSTRAINT_KIND_COUPLING);
    memcpy(to.axis, from->axis, sizeof to.axis);
    memcpy(to.second_axis, from->second_axis, sizeof to.second_axis);
    return to;
}

dyn_client_model_description *wire_description(const dyn_model *model) {
    dyn_error error;
    held_description *made = calloc(1, sizeof *made);
    require(dyn_model_describe(model, &made->builder, &error), &error);
    size_t links = (size_t)dyn_builder_link_count(made->builder),
           joints = (size_t)dyn_builder_joint_count(made->builder),
           constraints = (size_t)dyn_builder_constraint_count(made->builder);
    dyn_client_link *link = calloc(links + 1, sizeof *link);
    dyn_client_joint *joint = calloc(joints + 1, sizeof *joint);
    dyn_client_constraint *constraint = calloc(constraints + 1, sizeof *constraint);
    for (size_t i = 0; i < links; i++) {
        link[i] = link_form(dyn_builder_link(made->builder, (int)i));
    }
    for (size_t j = 0; j < joints; j++) {
        joint[j] = joint_form(dyn_builder_joint(made->builder, (int)j));
    }
    for (size_t i = 0; i < constraints; i++) {
        constraint[i] = constraint_form(dyn_builder_constraint(made->builder, (int)i));
    }
    dyn_builder_gravity(made->builder, made->gravity);
    dyn_build_options options = DYN_BUILD_OPTIONS_INIT();
    require(dyn_model_build_options(model, &options, &error), &error);
    made->form = (dyn_client_model_description)DYN_CLIENT_MODEL_DESCRIPTION_INIT(
            .name = dyn_builder_name(made->builder), .gravity = made->gravity,
            .base = (dyn_client_base)(options.base + DYN_CLIENT_BASE_FIXED),
            .mimic = (dyn_client_mimic_policy)(options.mimic + DYN_CLIENT_MIMIC_POLICY_COUPLED), .link_count = links,
            .links = link, .joint_count = joints, .joints = joint, .constraint_count = constraints,
            .constraints = constraint);
    return &made->form;
}

void wire_description_free(dyn_client_model_description *freed) {
    held_description *held = (held_description *)freed;
    dyn_builder_free(held->builder);
    free((void *)freed->links);
    free((void *)freed->joints);
    free((void *)freed->constraints);
    free(held);
}

/* ---- trees ------------------------------------------------------------------------------------------------------- */

static void send_description(wire_tree *tree) {
    dyn_client_error error;
    dyn_client_loaded_model *loaded;
    dyn_client_model_description *form = wire_description(tree->model);
    const dyn_client_load_request request = DYN_CLIENT_LOAD_REQUEST_INIT(.description = form, .name = tree->name);
    wire_require(dyn_client_load_model(tree->client, &request, &loaded, &error), &error);
    ck_assert_int_eq((int)loaded->model.nq, dyn_model_nq(tree->model));
    ck_assert_int_eq((int)loaded->model.nv, dyn_model_nv(tree->model));
    snprintf(tree->digest, sizeof tree->digest, "%s", loaded->model.digest);
    dyn_client_loaded_model_free(loaded);
    wire_description_free(form);
}

void wire_tree_open(dyn_client *client, random_source *random, const random_tree_options *options, const char *name,
                    wire_tree *opened) {
    dyn_error error;
    *opened = (wire_tree){.client = client, .model = random_tree(random, options)};
    snprintf(opened->name, sizeof opened->name, "%s", name);
    require(dyn_workspace_create(opened->model, &opened->workspace, &error), &error);
    int nq = dyn_model_nq(opened->model), nv = dyn_model_nv(opened->model);
    opened->q = calloc((size_t)nq + 1, sizeof *opened->q);
    opened->v = calloc((size_t)nv + 1, sizeof *opened->v);
    opened->a = calloc((size_t)nv + 1, sizeof *opened->a);
    opened->tau = calloc((size_t)nv + 1, sizeof *opened->tau);
    random_configuration(random, opened->model, 2, opened->q);
    random_vector(random, nv, 2, opened->v);
    random_vector(random, nv, 5, opened->a);
    random_vector(random, nv, 20, opened->tau);
    opened->query = (dyn_client_query)DYN_CLIENT_QUERY_INIT(.model = opened->name, .nq = (size_t)nq, .nv = (size_t)nv,
                                                            .samples = 1);
    send_description(opened);
}

void wire_tree_close(wire_tree *closed) {
    dyn_client_error error;
    wire_require(dyn_client_unload_model(closed->client, closed->name, 0, &error), &error);
    dyn_workspace_free(closed->workspace);
    dyn_model_free(closed->model);
    free(closed->q);
    free(closed->v);
    free(closed->a);
    free(closed->tau);
}
