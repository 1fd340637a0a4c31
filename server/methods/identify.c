/* SPDX-License-Identifier: BSD-2-Clause */
/* Identify: estimates inertial parameters and friction from a recorded motion. */
#include <dynamics/identification.h>
#include <dynamics/inertia.h>
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "methods/batch.h"
#include "methods/bounds.h"
#include "methods/description.h"
#include "methods/geometry.h"
#include "methods/link_parameters.h"
#include "methods/methods.h"

/* Approximate cost of one sample per cube of the coordinates, ns. */
static const double COST = 150;

/* Element of the estimates of a payload; a read-only string. */
static char payload_name[] = "payload";

/* Names of the terms of drives. */
static const char *const terms[DYN_DRIVE_TERMS] = {"viscous", "coulomb", "offset", "inertia"};

/* ---- the question ------------------------------------------------------------------------------------------------ */

static bool proceed(void *context, double fraction) {
    return call_proceed(context, fraction);
}

/* Reads the terms of drives to estimate. Returns false when the call has ended. */
static bool read_terms(call *c, const Dynamics__V1__IdentifyRequest *r, dyn_identification_options *o) {
    if (r->ignore_drives && (r->n_drive_terms > 0 || r->drives_only)) {
        call_blame(c, "ignore_drives");
        call_fail(
            c, REASON_CONFLICTING_FIELDS,
            "terms of drives are both wanted and ignored; leave out ignore_drives, or drive_terms and drives_only");
        return false;
    }
    for (int t = 0; t < DYN_DRIVE_TERMS && (r->ignore_drives || r->n_drive_terms > 0); t++) {
        o->drive_terms[t] = false;
    }
    for (size_t i = 0; i < r->n_drive_terms; i++) {
        int term = (int)r->drive_terms[i];
        if (term < 0 || term >= DYN_DRIVE_TERMS) {
            call_blame(c, "drive_terms[%zu]", i);
            call_fail(c, REASON_UNKNOWN_VALUE,
                      "the term is %d; pass VISCOUS (0), COULOMB (1), OFFSET (2) or INERTIA (3)", term);
            return false;
        }
        o->drive_terms[term] = true;
    }
    return true;
}

/* Reads the links whose inertias are sought. The library checks that they move. */
static bool read_links(batch *b, const Dynamics__V1__IdentifyRequest *r, dyn_identification_options *o) {
    int *links = call_allocate(b->call, r->n_links + 1, sizeof *links);
    for (size_t i = 0; links && i < r->n_links; i++) {
        call_blame(b->call, "links[%zu]", i);
        if (!batch_find_frame(b, REASON_LINK_NOT_FOUND, r->links[i], &links[i])) {
            return false;
        }
    }
    o->links = r->n_links > 0 ? links : NULL;
    o->link_count = r->n_links;
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

/* Reads the options of the request. The library checks their ranges. */
static bool read_options(batch *b, const Dynamics__V1__IdentifyRequest *r, dyn_identification_options *o) {
    *o = (dyn_identification_options)DYN_IDENTIFICATION_OPTIONS_INIT();
    o->gravity = b->values.gravity;
    o->cutoff = r->cutoff;
    o->torque_cutoff = r->torque_cutoff;
    o->estimator = (dyn_estimator)r->estimator;
    o->drives_only = r->drives_only;
    o->friction_velocity = r->friction_velocity != 0 ? r->friction_velocity : o->friction_velocity;
    o->prior = r->prior != 0 ? r->prior : o->prior;
    if (r->optional_folds_case == DYNAMICS__V1__IDENTIFY_REQUEST__OPTIONAL_FOLDS_FOLDS) {
        o->folds = r->folds;
    }
    o->proceed = proceed;
    o->context = b->call;
    return read_terms(b->call, r, o) && read_links(b, r, o);
}

/* Checks the counts of the arrays that a batch does not know. */
static bool check_counts(batch *b, const Dynamics__V1__IdentifyRequest *r) {
    if (r->n_time != 0 && r->n_time != b->n) {
        call_blame(b->call, "time");
        call_fail(b->call, REASON_WRONG_COUNT, "time has %zu values; pass one for each of the %zu rows, or none",
                  r->n_time, b->n);
        return false;
    }
    if (r->n_load != 0 && r->n_load != b->n) {
        call_blame(b->call, "load");
        call_fail(b->call, REASON_WRONG_COUNT, "load has %zu values; pass one for each of the %zu rows, or none",
                  r->n_load, b->n);
        return false;
    }
    if (r->n_gains != 0 && r->n_gains != b->nv) {
        call_blame(b->call, "gains");
        call_fail(b->call, REASON_WRONG_COUNT, "gains has %zu values; pass nv = %zu, or none", r->n_gains, b->nv);
        return false;
    }
    if (r->n_tau == 0) {
        call_blame(b->call, "tau");
        call_fail(b->call, REASON_MISSING_VALUE, "tau is missing; pass the torque of each joint in each row");
        return false;
    }
    return batch_check(b, "v", r->n_v) && batch_check(b, "a", r->n_a) && batch_check(b, "tau", r->n_tau);
}

/* Checks the size of the model. */
static bool check_model(batch *b) {
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

/* Converts the motion to the model's order, and lists the known loads. Returns false when the call has ended. */
static bool read_motion(batch *b, const Dynamics__V1__IdentifyRequest *r, dyn_recorded_motion *m) {
    *m = (dyn_recorded_motion){.n = b->n, .time = r->n_time > 0 ? r->time : NULL, .q = b->q};
    m->v = batch_input(b, r->n_v, r->v);
    m->a = batch_input(b, r->n_a, r->a);
    m->tau = batch_input(b, r->n_tau, r->tau);
    m->gains = r->n_gains > 0 ? r->gains : NULL;
    if (m->gains && !b->order.is_identity) {
        double *gains = call_allocate(b->call, b->nv, sizeof *gains);
        if (gains) {
            joint_order_to_model(b->order.v, b->nv, 1, r->gains, gains);
        }
        m->gains = gains;
    }
    dyn_external_forces *forces = call_allocate(b->call, 1, sizeof *forces);
    if (forces) {
        *forces = (dyn_external_forces){.count = b->force_count, .force = b->forces};
    }
    m->forces = forces;
    m->payload_count = b->values.payload_count, m->payloads = b->values.payloads;
    m->load = r->n_load > 0 ? r->load : NULL;
    return !call_has_ended(b->call);
}

/* ---- the answer -------------------------------------------------------------------------------------------------- */

/* Returns the joint of a velocity coordinate. */
static const dyn_joint *joint_of(const dyn_model *model, int coordinate) {
    for (int j = 0; j < dyn_model_joint_count(model); j++) {
        const dyn_joint *joint = dyn_model_joint(model, j);
        if (coordinate >= joint->v_index && coordinate < joint->v_index + joint->nv) {
            return joint;
        }
    }
    return dyn_model_joint(model, 0);
}

/* Returns the unit of a term of a joint's drive, a read-only string. */
static char *unit_of_term(const dyn_joint *joint, dyn_drive_term term) {
    static const char *const turning[] = {"N m s/rad", "N m", "N m", "kg m^2"};
    static const char *const sliding[] = {"N s/m", "N", "N", "kg"};
    return (char *)(uintptr_t)(joint->type == DYN_JOINT_TYPE_PRISMATIC ? sliding : turning)[term];
}

static void write_estimates(batch *b, const dyn_identification *found, const dyn_identification_options *o,
                            Dynamics__V1__IdentifyReply *reply) {
    size_t count = found->estimate_count;
    Dynamics__V1__LinearEstimate *list = call_allocate(b->call, count, sizeof *list);
    reply->estimates = call_allocate(b->call, count, sizeof *reply->estimates);
    for (size_t i = 0; i < count && !call_has_ended(b->call); i++) {
        const dyn_linear_estimate *from = &found->estimates[i];
        Dynamics__V1__LinearEstimate *to = reply->estimates[reply->n_estimates++] = &list[i];
        dynamics__v1__linear_estimate__init(to);
        if (from->column >= 0) {
            to->column = (uint32_t)from->column;
            to->element = o->payload_link >= 0 ? payload_name : reply->bodies[to->column / LINK_PARAMETERS];
            to->parameter = link_parameter_name(to->column);
            to->unit = link_parameter_unit(to->column);
        } else {
            const dyn_joint *joint = joint_of(b->model, from->coordinate);
            to->element = call_string(b->call, joint->name);
            to->parameter = (char *)(uintptr_t)terms[from->term];
            to->unit = unit_of_term(joint, from->term);
        }
        to->value = from->value;
        to->deviation = from->deviation;
        to->prior = from->prior;
        to->is_excited = from->is_excited;
        to->relative_deviation = from->deviation > 0 ? from->deviation / fmax(fabs(from->value), DBL_MIN) : 0;
    }
}

static void write_fits(batch *b, const dyn_identification *found, Dynamics__V1__IdentifyReply *reply) {
    Dynamics__V1__JointFit *list = call_allocate(b->call, b->nv, sizeof *list);
    reply->fits = call_allocate(b->call, b->nv, sizeof *reply->fits);
    for (size_t k = 0; k < b->nv && !call_has_ended(b->call); k++) {
        const dyn_joint_fit *from = &found->fits[k];
        const double *drive = found->drives + k * DYN_DRIVE_TERMS;
        Dynamics__V1__JointFit *to = reply->fits[reply->n_fits++] = &list[k];
        dynamics__v1__joint_fit__init(to);
        to->joint = call_string(b->call, joint_of(b->model, (int)k)->name);
        to->lowest = from->lowest;
        to->highest = from->highest;
        to->model_error = from->model_error;
        to->residual = from->residual;
        to->consistent_residual = from->consistent_residual;
        to->prediction = from->prediction;
        to->consistent_prediction = from->consistent_prediction;
        to->accounted = from->accounted;
        to->saturated = from->saturated;
        to->viscous = drive[DYN_DRIVE_TERM_VISCOUS];
        to->coulomb = drive[DYN_DRIVE_TERM_COULOMB];
        to->offset = drive[DYN_DRIVE_TERM_OFFSET];
        to->inertia = drive[DYN_DRIVE_TERM_INERTIA];
    }
}

/* Writes the consistent estimate of the payload. */
static void write_payload(batch *b, const dyn_identification *found, Dynamics__V1__IdentifyReply *reply) {
    dyn_inertia inertia;
    dyn_error error;
    if (dyn_inertia_from_parameters(found->payload, &inertia, &error) == DYN_OK) {
        reply->payload = geometry_write_inertia(b->call, &inertia);
    } else {
        call_fail_library(b->call, &error);
    }
}

/* Writes the consistent estimate: its parameters and the description of its model. */
static void write_model(batch *b, const dyn_identification *found, const dyn_identification_options *o,
                        Dynamics__V1__IdentifyReply *reply) {
    dyn_model *model;
    dyn_error error;
    size_t bodies = reply->n_bodies;
    reply->n_parameters = found->parameter_count;
    reply->parameters = call_allocate(b->call, found->parameter_count + 1, sizeof *reply->parameters);
    reply->replaced_priors = call_allocate(b->call, bodies + 1, sizeof *reply->replaced_priors);
    if (call_has_ended(b->call)) {
        return;
    }
    memcpy(reply->parameters, found->parameters, found->parameter_count * sizeof *reply->parameters);
    for (size_t i = 0; i < bodies; i++) {
        if (found->lacks_prior[i] && !o->drives_only) {
            reply->replaced_priors[reply->n_replaced_priors++] = reply->bodies[i];
        }
    }
    const double *p = o->drives_only ? NULL : found->parameters;
    if (dyn_model_with_parameters(b->model, p, found->drives, &model, &error) != DYN_OK) {
        call_blame(b->call, "query.model");
        call_fail_library(b->call, &error);
        return;
    }
    reply->description = description_write(b->call, model);
    dyn_model_free(model);
}

static void answer(batch *b, const dyn_identification *found, const dyn_identification_options *o) {
    Dynamics__V1__IdentifyReply *reply = create_identify_reply(b->call);
    char **bodies = link_parameter_bodies(b->call, b->model);
    if (!reply || !bodies) {
        return;
    }
    reply->rows = b->n;
    reply->n_bodies = (size_t)dyn_model_joint_count(b->model);
    reply->bodies = bodies;
    reply->rank = (uint32_t)found->rank;
    reply->condition = found->condition;
    reply->iterations = (uint32_t)found->iterations;
    reply->is_converged = found->is_converged;
    write_estimates(b, found, o, reply);
    write_fits(b, found, reply);
    write_model(b, found, o, reply);
    if (o->payload_link >= 0 && !call_has_ended(b->call)) {
        write_payload(b, found, reply);
    }
}

void method_identify(call *c) {
    const Dynamics__V1__IdentifyRequest *r = c->request->identify;
    batch b;
    dyn_identification_options options;
    dyn_recorded_motion motion;
    dyn_identification *found = NULL;
    dyn_error error;
    bool is_ready =
        batch_open(c, &b, r->query, QUERY_JOINT_NAMES | QUERY_GRAVITY | QUERY_PAYLOADS | QUERY_FORCES, r->n_q, r->q) &&
        check_model(&b) && check_counts(&b, r) && read_options(&b, r, &options);
    double nv = is_ready ? (double)b.nv : 0;
    if (is_ready && batch_begin(&b, COST * nv * nv * nv) && read_motion(&b, r, &motion)) {
        dyn_status status = dyn_identify(b.model, &motion, &options, &found, &error);
        if (status == DYN_OK) {
            answer(&b, found, &options);
        } else if (!call_has_ended(c)) {
            batch_fail(&b, 0, &error);
        }
    }
    dyn_identification_free(found);
    batch_close(&b);
}
