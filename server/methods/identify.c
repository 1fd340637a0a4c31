/* SPDX-License-Identifier: BSD-2-Clause */
/* Identify: estimates inertial parameters and friction from a recorded motion. */
#include <dynamics/identification.h>
#include <dynamics/inertia.h>
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "methods/batch.h"
#include "methods/description.h"
#include "methods/geometry.h"
#include "methods/identification_notes.h"
#include "methods/link_parameters.h"
#include "methods/methods.h"
#include "methods/parameter_choice.h"

/* Approximate cost of one sample per cube of the coordinates, ns. */
static const double COST = 150;

/* Element of the estimates of a payload; a read-only string. */
static char payload_name[] = "payload";

/* Names of the terms of drives. */
static const char *const terms[DYN_DRIVE_TERMS] = {"viscous", "coulomb", "offset", "inertia", "stribeck", "load"};

/* ---- the question ------------------------------------------------------------------------------------------------ */

/* Reads the options of the request. The library checks their ranges. */
static bool read_options(batch *b, const Dynamics__V1__IdentifyRequest *r, dyn_identification_options *o) {
    *o = (dyn_identification_options)DYN_IDENTIFICATION_OPTIONS_INIT();
    o->cutoff = r->cutoff;
    o->torque_cutoff = r->torque_cutoff;
    o->estimator = (dyn_estimator)r->estimator;
    o->estimate_gains = r->estimate_gains;
    o->prior = r->prior != 0 ? r->prior : o->prior;
    if (r->optional_folds_case == DYNAMICS__V1__IDENTIFY_REQUEST__OPTIONAL_FOLDS_FOLDS) {
        o->folds = r->folds;
    }
    const parameter_choice choice = {.term_count = r->n_drive_terms,
                                     .terms = r->drive_terms,
                                     .ignore_drives = r->ignore_drives,
                                     .drives_only = r->drives_only,
                                     .friction_velocity = r->friction_velocity,
                                     .stribeck_velocity = r->stribeck_velocity,
                                     .link_count = r->n_links,
                                     .links = r->links,
                                     .payload_link = r->payload_link};
    return parameter_choice_read(b, &choice, o);
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

/* Returns the unit of a term of a joint's drive, a read-only string. */
static char *unit_of_term(const dyn_joint *joint, dyn_drive_term term) {
    static const char *const turning[] = {"N m s/rad", "N m", "N m", "kg m^2", "N m", "1"};
    static const char *const sliding[] = {"N s/m", "N", "N", "kg", "N", "1"};
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
            const dyn_joint *joint = joint_of_coordinate(b->model, from->coordinate);
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

/* Returns the cause why estimate i is not excited; empty if it is. */
static char *reason_of(batch *b, const dyn_identification *found, size_t i, Dynamics__V1__IdentifyReply *reply) {
    static char excited[] = "", idle[] = "no row depends on it", coupled[] = "only together with ";
    const dyn_linear_estimate *from = &found->estimates[i];
    static char saturated[] = "all rows that depend on it are left out, with saturated torques";
    if (from->is_saturated) {
        return saturated;
    }
    if (from->is_excited || from->partner < 0) {
        return from->is_excited ? excited : idle;
    }
    const Dynamics__V1__LinearEstimate *partner = reply->estimates[from->partner];
    size_t size = sizeof coupled + strlen(partner->parameter) + strlen(partner->element) + sizeof " of ";
    char *reason = call_allocate(b->call, size, 1);
    if (reason) {
        snprintf(reason, size, "%s%s of %s", coupled, partner->parameter, partner->element);
    }
    return reason ? reason : excited;
}

static void write_reasons(batch *b, const dyn_identification *found, Dynamics__V1__IdentifyReply *reply) {
    for (size_t i = 0; i < reply->n_estimates && !call_has_ended(b->call); i++) {
        reply->estimates[i]->reason = reason_of(b, found, i, reply);
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
        to->joint = call_string(b->call, joint_of_coordinate(b->model, (int)k)->name);
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
        to->stribeck = drive[DYN_DRIVE_TERM_STRIBECK];
        to->load = drive[DYN_DRIVE_TERM_LOAD];
        to->gain = b->call->request->identify->estimate_gains ? found->gains[k] : 0;
        to->gain_deviation = found->gain_deviations[k];
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
    write_reasons(b, found, reply);
    write_fits(b, found, reply);
    write_model(b, found, o, reply);
    if (o->payload_link >= 0 && !call_has_ended(b->call)) {
        write_payload(b, found, reply);
    }
    if (!call_has_ended(b->call)) {
        identification_notes_add(b, o, reply);
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
        parameter_choice_fits(&b) && check_counts(&b, r) && read_options(&b, r, &options);
    double nv = is_ready ? (double)b.nv : 0;
    if (is_ready && batch_begin(&b, COST * nv * nv * nv) && read_motion(&b, r, &motion)) {
        dyn_status status = dyn_identify(b.model, &motion, &options, &found, &error);
        if (status == DYN_OK) {
            answer(&b, found, &options);
        } else if (!call_has_ended(c)) {
            parameter_choice_fail(&b, &error);
        }
    }
    dyn_identification_free(found);
    batch_close(&b);
}
