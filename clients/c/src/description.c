/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Requests the description of a loaded model and converts the reply to the public form.
 */
#include "requests.h"

#include <stdlib.h>

#include "constraints.h"
#include "descriptions.h"
#include "error.h"
#include "contact_surfaces.h"
#include "machine_elements.h"
#include "model_parts.h"

/* Public description, with the reply that owns its strings, and the arrays that the description refers to. */
typedef struct description_result {
    dyn_client_description description;
    Dynamics__V1__DescribeModelReply *reply;
    dyn_client_joint *joints;
    dyn_client_link *links;
    dyn_client_frame *frames;
    dyn_client_report_entry *report;
    pool elements; /* constraints, machine elements and contact surfaces */
} description_result;

const char *dyn_client_joint_type_name(dyn_client_joint_type type) {
    static const char *const names[] = {"unspecified", "fixed",     "revolute", "continuous", "prismatic", "helical",
                                        "cylindrical", "universal", "planar",   "spherical",  "floating",  "custom"};
    return (size_t)type < sizeof names / sizeof *names ? names[type] : "unknown";
}

/* Converts a joint with its indices, dimensions and units. from->coordinates must not be NULL. */
static dyn_client_joint to_moving_joint(pool *memory, const Dynamics__V1__Joint *from) {
    const Dynamics__V1__JointCoordinates *at = from->coordinates;
    dyn_client_joint joint = to_joint(memory, from);
    joint.q_index = at->q_index;
    joint.v_index = at->v_index;
    joint.nq = at->nq;
    joint.nv = at->nv;
    joint.q_units = (const char *const *)at->q_units;
    joint.v_units = (const char *const *)at->v_units;
    joint.tau_units = (const char *const *)at->tau_units;
    return joint;
}

static dyn_client_link to_link(const Dynamics__V1__Link *from) {
    return (dyn_client_link){.name = from->name,
                             .inertia = to_inertia(from->inertia),
                             .parent_joint = from->joints ? from->joints->parent_joint : "",
                             .moving_joint = from->joints ? from->joints->moving_joint : ""};
}

/* Returns true if the parts of a reply are present, its arrays have the lengths that nq and nv require, and the rows of
 * constraints and the coordinates of joints are in the model's range. */
static bool is_consistent(const Dynamics__V1__DescribeModelReply *reply) {
    if (!reply->model || reply->n_zero_q != reply->model->nq || reply->n_home_q != reply->model->nq ||
        reply->n_q_names != reply->model->nq || reply->n_v_names != reply->model->nv) {
        return false;
    }
    for (size_t i = 0; i < reply->n_constraints; i++) {
        const Dynamics__V1__ConstraintRows *rows = reply->constraints[i]->rows;
        if (!rows || (uint64_t)rows->first + rows->n_names > reply->model->constraint_rows) {
            return false;
        }
    }
    for (size_t i = 0; i < reply->n_joints; i++) {
        const Dynamics__V1__JointCoordinates *at = reply->joints[i]->coordinates;
        bool in_range = at && (uint64_t)at->q_index + at->nq <= reply->model->nq &&
                        (uint64_t)at->v_index + at->nv <= reply->model->nv;
        bool has_units = at && at->n_q_units >= at->nq && at->n_v_units >= at->nv && at->n_tau_units >= at->nv;
        if (!in_range || !has_units) {
            return false;
        }
    }
    return true;
}

/* Allocates zeroed memory for at least one element, so that NULL always means out of memory. */
static void *allocate(size_t count, size_t size) {
    return calloc(count > 0 ? count : 1, size);
}

static dyn_client_frame to_described_frame(const Dynamics__V1__Frame *from) {
    return (dyn_client_frame){
        .name = from->name, .link = from->link, .moving_joint = from->moving_joint, .pose = to_pose(from->pose)};
}

/* Converts result->reply, which is_consistent has checked, to the public description. Returns false when out of
 * memory. */
static bool convert_description(description_result *result) {
    const Dynamics__V1__DescribeModelReply *from = result->reply;
    result->joints = allocate(from->n_joints, sizeof *result->joints);
    result->links = allocate(from->n_links, sizeof *result->links);
    result->frames = allocate(from->n_frames, sizeof *result->frames);
    result->report = allocate(from->n_report, sizeof *result->report);
    if (!result->joints || !result->links || !result->frames || !result->report) {
        return false;
    }
    for (size_t i = 0; i < from->n_joints; i++) {
        result->joints[i] = to_moving_joint(&result->elements, from->joints[i]);
    }
    for (size_t i = 0; i < from->n_links; i++) {
        result->links[i] = to_link(from->links[i]);
    }
    for (size_t i = 0; i < from->n_frames; i++) {
        result->frames[i] = to_described_frame(from->frames[i]);
    }
    to_report(from->n_report, from->report, result->report);
    const dyn_client_constraint *constraints =
        to_constraints(&result->elements, from->n_constraints, from->constraints);
    const dyn_client_machine_element *elements =
        to_machine_elements(&result->elements, from->n_machine_elements, from->machine_elements);
    const dyn_client_contact_surface *surfaces =
        to_contact_surfaces(&result->elements, from->n_contact_surfaces, from->contact_surfaces);
    if (result->elements.is_exhausted) {
        return false;
    }
    result->description = (dyn_client_description){
        .model = to_model(from->model),
        .mimic = (dyn_client_mimic_policy)from->mimic,
        .joint_count = from->n_joints,
        .joints = result->joints,
        .link_count = from->n_links,
        .links = result->links,
        .frame_count = from->n_frames,
        .frames = result->frames,
        .report_count = from->n_report,
        .report = result->report,
        .zero_q = from->zero_q,
        .home_q = from->home_q,
        .q_names = (const char *const *)from->q_names,
        .v_names = (const char *const *)from->v_names,
        .constraint_count = from->n_constraints,
        .constraints = constraints,
        .machine_element_count = from->n_machine_elements,
        .machine_elements = elements,
        .contact_surface_count = from->n_contact_surfaces,
        .contact_surfaces = surfaces,
        .passive_joint_count = from->n_passive_joints,
        .passive_joints = (const char *const *)from->passive_joints,
        .compilation =
            from->compilation ? (dyn_client_compilation)from->compilation->state : DYN_CLIENT_COMPILATION_UNSPECIFIED,
        .compilation_reason = from->compilation ? from->compilation->reason : "",
        .instruction_set = from->compilation ? from->compilation->instruction_set : "",
    };
    to_vector3(from->gravity, result->description.gravity);
    return true;
}

dyn_client_status dyn_client_describe_model(dyn_client *client, const char *model, double timeout,
                                            dyn_client_description **description, dyn_client_error *error) {
    *description = NULL;
    if (!client || !model) {
        return fail(error, DYN_CLIENT_INVALID_ARGUMENT, "describe_model.model", "client or model is NULL");
    }
    Dynamics__V1__DescribeModelRequest question = DYNAMICS__V1__DESCRIBE_MODEL_REQUEST__INIT;
    question.model = (char *)model;

    description_result *result = calloc(1, sizeof *result);
    if (!result) {
        return fail_memory(error);
    }
    dyn_client_status status = request_describe_model(client, &question, within(timeout), &result->reply, error);
    if (status == DYN_CLIENT_OK && !is_consistent(result->reply)) {
        status = fail_bad_reply(error, "the description contradicts itself");
    }
    if (status == DYN_CLIENT_OK && !convert_description(result)) {
        status = fail_memory(error);
    }
    if (status != DYN_CLIENT_OK) {
        dyn_client_description_free(&result->description);
        return status;
    }
    *description = &result->description;
    return DYN_CLIENT_OK;
}

void dyn_client_description_free(dyn_client_description *description) {
    if (!description) {
        return;
    }
    description_result *result = (description_result *)description;
    free(result->joints);
    free(result->links);
    free(result->frames);
    free(result->report);
    pool_free(&result->elements);
    dynamics__v1__describe_model_reply__free_unpacked(result->reply, NULL);
    free(result);
}
