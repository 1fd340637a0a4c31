/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads the Query of a request. */
#include "methods/query.h"

#include <math.h>
#include <string.h>

#include "methods/constraints.h"
#include "methods/geometry.h"
#include "methods/motion_options.h"
#include "methods/passive_forces.h"
#include "methods/text.h"

bool query_check(const Dynamics__V1__Query *q, query_parts supported, const char *method_name, refusal *why) {
    if (!q) {
        return refuse(why, REASON_MISSING_VALUE, "query",
                      "the request has no query; pass one with the name of the model");
    }
    const struct {
        query_parts part;
        bool is_there;
        const char *name, *field;
    } parts[] = {
        {QUERY_JOINT_NAMES, q->n_joint_names > 0, "joint names", "query.joint_names"},
        {QUERY_GRAVITY, q->gravity != NULL, "gravity", "query.gravity"},
        {QUERY_PAYLOADS, q->n_payloads > 0, "payloads", "query.payloads"},
        {QUERY_PAYLOADS, q->without_rotors, "requests without rotors", "query.without_rotors"},
        {QUERY_FORCES, q->n_external_forces > 0, "external forces", "query.external_forces"},
        {QUERY_ON_ERROR, q->on_error != DYNAMICS__V1__ON_ERROR__ON_ERROR_FAIL, "on_error other than FAIL (0)",
         "query.on_error"},
        {QUERY_PRECISION, q->precision != DYNAMICS__V1__PRECISION__PRECISION_DOUBLE,
         "a precision other than DOUBLE (0)", "query.precision"},
        {QUERY_PASSIVE_FORCES, q->passive_forces != NULL, "passive forces", "query.passive_forces"},
        {QUERY_ADDED_CONSTRAINTS, q->n_constraints > 0, "constraints of a request", "query.constraints"},
        {QUERY_ROWS, q->rows != NULL, "rows of a request", "query.rows"},
        {QUERY_MOTION_OPTIONS, q->motion_options != NULL, "options of constrained motions", "query.motion_options"},
        {QUERY_TIME, q->time != 0, "a time", "query.time"},
        {QUERY_TIP_CONSTRAINTS, q->n_tip_constraints > 0, "tip constraints", "query.tip_constraints"},
        {QUERY_BASE_MOTION, q->base_motion != NULL, "motion of the base", "query.base_motion"},
        {QUERY_FORMULATION, q->formulation[0] != '\0', "formulations", "query.formulation"},
    };
    const bool is_formulated = q->formulation[0] != '\0' && (supported & QUERY_FORMULATION);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        /* A row is known at the states of the request alone, a constraint everywhere. */
        bool is_row = parts[i].part == QUERY_ROWS && supported & QUERY_ADDED_CONSTRAINTS;
        if (parts[i].is_there && !(parts[i].part & supported)) {
            return refuse(why, REASON_UNUSED_FIELD, parts[i].field, "%s%s does not support %s; leave it out%s",
                          method_name, is_formulated ? " with a formulation" : "", parts[i].name,
                          is_row ? ", or state a constraint (query.constraints), which holds at every state" : "");
        }
    }
    return true;
}

bool query_check_digest(const Dynamics__V1__Query *query, const model_entry *entry, refusal *why) {
    static const char field[] = "query.expected_digest";
    char quoted[TEXT_QUOTE_SIZE];
    if (query->expected_digest[0] == '\0' || strcmp(query->expected_digest, entry->digest) == 0) {
        return true;
    }
    if (!digest_is_one(query->expected_digest)) {
        return refuse(why, REASON_INVALID_VALUE, field,
                      "%s is no digest; pass \"sha256:\" and 64 digits, as DescribeModel does",
                      text_quote(query->expected_digest, quoted));
    }
    return refuse(why, REASON_MODEL_CHANGED, field,
                  "the model \"%s\" has the digest %.19s..., not the expected one; describe it, and decide again",
                  entry->name, entry->digest);
}

/* Returns the model of the expected digest if another daemon has given the name to it and this one does not know yet;
 * otherwise `entry`. */
static model_entry *update_entry(call *c, const Dynamics__V1__Query *query, model_entry *entry) {
    const char *expected = query->expected_digest;
    bool is_expected = expected[0] == '\0' || strcmp(expected, entry->digest) == 0 || digest_is_one(query->model);
    model_entry *later = is_expected ? NULL : model_store_fetch(c->service->store, query->model);
    if (later) {
        model_entry_release(entry);
    }
    return later ? later : entry;
}

/* Returns the model of an entry without its rotors, and states it in the reply. Releases `entry`. Returns NULL when the
 * call has ended. */
static model_entry *leave_out_rotors(call *c, model_entry *entry) {
    dyn_error error;
    model_entry *bare = NULL;
    if (model_entry_without_rotors(entry, &error, &bare) != DYN_OK) {
        call_blame(c, "query.without_rotors");
        call_fail_library(c, &error);
    }
    c->reply.without_rotors = bare != NULL;
    model_entry_release(entry);
    return bare;
}

model_entry *query_find_model(call *c, const Dynamics__V1__Query *query, query_parts supported) {
    refusal why = {0};
    if (!query_check(query, supported, c->method->name, &why)) {
        call_refuse(c, &why);
        return NULL;
    }
    model_entry *entry = call_find_model(c, query->model);
    if (!entry) {
        call_blame(c, "query.model");
        return NULL;
    }
    entry = update_entry(c, query, entry);
    const char *what = query->formulation[0] != '\0' ? "a formulation of chains and trees" : c->method->name;
    if (!query_check_digest(query, entry, &why) ||
        (!(supported & QUERY_CONSTRAINTS) && !constraints_are_absent(entry, what, &why))) {
        call_refuse(c, &why);
        model_entry_release(entry);
        return NULL;
    }
    call_set_model(c, entry);
    call_set_code(c, entry);
    if (query->without_rotors) {
        entry = leave_out_rotors(c, entry);
    }
    bool is_closed = entry && query->n_constraints > 0;
    return is_closed ? constraints_add(c, entry, query->n_constraints, query->constraints) : entry;
}

bool query_read_gravity(const Dynamics__V1__Query *query, arena *memory, const double **gravity, refusal *why) {
    double *values = query->gravity ? arena_array(memory, 3, sizeof *values) : NULL;
    *gravity = values;
    if (!query->gravity) {
        return true;
    }
    return values ? geometry_parse_vector("query.gravity", query->gravity, values, why) : refuse_memory(why);
}

static bool read_precision(Dynamics__V1__Precision wire, dyn_precision *precision, refusal *why) {
    switch (wire) {
    case DYNAMICS__V1__PRECISION__PRECISION_DOUBLE:
        *precision = DYN_PRECISION_DOUBLE;
        return true;
    case DYNAMICS__V1__PRECISION__PRECISION_SINGLE:
        *precision = DYN_PRECISION_SINGLE;
        return true;
    default:
        return refuse(why, REASON_UNKNOWN_VALUE, "query.precision",
                      "the precision is %d; pass DOUBLE (0) or SINGLE (1)", (int)wire);
    }
}

static bool read_passive_forces(const Dynamics__V1__PassiveForces *wire, dyn_passive_parts *parts, refusal *why) {
    if (!wire) {
        return true;
    }
    if (!(wire->friction_velocity >= 0) || !isfinite(wire->friction_velocity)) {
        return refuse(why, REASON_INVALID_VALUE, "query.passive_forces.friction_velocity",
                      "the friction velocity is %g; pass a positive number, or nothing for %g", wire->friction_velocity,
                      PASSIVE_FRICTION_VELOCITY);
    }
    *parts = (dyn_passive_parts){.damping = wire->damping,
                                 .friction = wire->friction,
                                 .springs = wire->springs,
                                 .gear_losses = wire->gear_losses,
                                 .friction_velocity =
                                     wire->friction_velocity > 0 ? wire->friction_velocity : PASSIVE_FRICTION_VELOCITY};
    return true;
}

static bool read_on_error(Dynamics__V1__OnError wire, bool *is_marking, refusal *why) {
    *is_marking = wire == DYNAMICS__V1__ON_ERROR__ON_ERROR_MARK;
    return wire == DYNAMICS__V1__ON_ERROR__ON_ERROR_FAIL || *is_marking ||
           refuse(why, REASON_UNKNOWN_VALUE, "query.on_error", "on_error is %d; pass FAIL (0) or MARK (1)", (int)wire);
}

/* Returns the number of rows of a query, at most one more than a robot may have. */
static size_t count_given_rows(const Dynamics__V1__Query *query) {
    const size_t count = query->rows ? (size_t)query->rows->count : 0;
    return count <= DYN_MAX_CONSTRAINT_ROWS ? count : DYN_MAX_CONSTRAINT_ROWS + 1;
}

bool query_read(const Dynamics__V1__Query *query, model_entry *entry, arena *memory, robot *r, query_values *values,
                refusal *why) {
    *values = (query_values){.time = query->time,
                             .motion = (dyn_constrained_inverse_options)DYN_CONSTRAINED_INVERSE_OPTIONS_INIT()};
    const size_t rows = (size_t)dyn_model_constraint_rows(entry->model) + count_given_rows(query);
    if (!isfinite(query->time)) {
        return refuse(why, REASON_NOT_FINITE, "query.time", "the time is %g s; pass a finite number", query->time);
    }
    return robot_open(r, entry, query->n_joint_names, query->joint_names, memory, why) &&
           query_read_gravity(query, memory, &values->gravity, why) &&
           query_read_payloads(r, query->n_payloads, query->payloads, memory, values, why) &&
           read_precision(query->precision, &values->precision, why) &&
           read_passive_forces(query->passive_forces, &values->passive, why) &&
           read_on_error(query->on_error, &values->is_marking, why) &&
           motion_options_read(r, rows, query->motion_options, memory, &values->motion, why);
}

const char *query_field(const char *argument) {
    static const char *const fields[] = {"query.model",           "query.gravity",     "query.payloads",
                                         "query.external_forces", "query.formulation", "query.base_motion"};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        if (strcmp(argument, fields[i] + strlen("query.")) == 0) {
            return fields[i];
        }
    }
    return NULL;
}
