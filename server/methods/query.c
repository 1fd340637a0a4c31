/* SPDX-License-Identifier: BSD-2-Clause */
/* The Query of a request. */
#include "methods/query.h"

#include <math.h>
#include <stdio.h>

#include "methods/geometry.h"
#include "methods/text.h"

/* ---- parts ------------------------------------------------------------------------------------------------------- */

bool query_check(call *c, const Dynamics__V1__Query *q, query_parts supported) {
    if (!q) {
        call_blame(c, "query");
        call_fail(c, REASON_MISSING_VALUE, "the request has no query; give one with the name of the model");
        return false;
    }
    const struct {
        query_parts part;
        bool is_there;
        const char *name;
    } parts[] = {
        {QUERY_JOINT_NAMES, q->n_joint_names > 0, "joint_names"},
        {QUERY_GRAVITY, q->gravity != NULL, "gravity"},
        {QUERY_PAYLOADS, q->n_payloads > 0, "payloads"},
        {QUERY_FORCES, q->n_external_forces > 0, "external_forces"},
        {QUERY_ON_ERROR, q->on_error != DYNAMICS__V1__ON_ERROR__ON_ERROR_FAIL, "on_error"},
        {QUERY_PRECISION, q->precision != DYNAMICS__V1__PRECISION__PRECISION_DOUBLE, "precision"},
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (parts[i].is_there && !(parts[i].part & supported)) {
            call_blame(c, "query.%s", parts[i].name);
            call_fail(c, REASON_UNUSED_FIELD, "%s has no use for %s; leave it out", c->method->name, parts[i].name);
            return false;
        }
    }
    return true;
}

model_entry *query_find_model(call *c, const Dynamics__V1__Query *query) {
    model_entry *entry = call_find_model(c, query->model);
    if (!entry) {
        call_blame(c, "query.model");
    }
    return entry;
}

bool query_read_gravity(call *c, const Dynamics__V1__Query *query, const double **gravity) {
    double *values = NULL;
    if (query->gravity) {
        values = call_allocate(c, 3, sizeof *values);
        if (!values || !geometry_read_vector(c, "query.gravity", query->gravity, values)) {
            return false;
        }
    }
    *gravity = values;
    return true;
}

/* Ends the call with the mistake in the names of joints. */
static void fail_order(batch *b, joint_order_status status, size_t at, char *const *names) {
    char quoted[TEXT_QUOTE_SIZE];
    if (status == JOINT_ORDER_NO_MEMORY) {
        call_fail_memory(b->call);
        return;
    }
    if (status == JOINT_ORDER_MISSING) {
        call_blame(b->call, "query.joint_names");
        call_fail(b->call, REASON_MISSING_VALUE, "joint %s is missing; name every moving joint once",
                  text_quote(dyn_model_joint(b->model, (int)at)->name, quoted));
        return;
    }
    call_blame(b->call, "query.joint_names[%zu]", at);
    if (status == JOINT_ORDER_REPEATED) {
        call_fail(b->call, REASON_DUPLICATE, "joint %s is named twice", text_quote(names[at], quoted));
        return;
    }
    text_guess guess = text_guess_start(names[at]);
    for (int j = 0; j < dyn_model_joint_count(b->model); j++) {
        text_guess_consider(&guess, dyn_model_joint(b->model, j)->name);
    }
    const char *hint = guess.closest ? guess.closest : dyn_model_joint(b->model, 0)->name;
    call_fail(b->call, REASON_JOINT_NOT_FOUND, "model \"%s\" has no moving joint %s; %s \"%s\"", b->entry->name,
              text_quote(names[at], quoted), guess.closest ? "did you mean" : "its first one is", hint);
}

static bool read_order(batch *b, size_t name_count, char *const *names) {
    size_t at;
    joint_order_status status = joint_order_build(b->model, &b->call->memory, name_count, names, &b->order, &at);
    if (status != JOINT_ORDER_OK) {
        fail_order(b, status, at, names);
    }
    return status == JOINT_ORDER_OK;
}

static bool read_precision(batch *b, Dynamics__V1__Precision wire) {
    switch (wire) {
    case DYNAMICS__V1__PRECISION__PRECISION_DOUBLE:
        b->precision = DYN_DOUBLE_PRECISION;
        return true;
    case DYNAMICS__V1__PRECISION__PRECISION_SINGLE:
        b->precision = DYN_SINGLE_PRECISION;
        return true;
    default:
        call_blame(b->call, "query.precision");
        call_fail(b->call, REASON_UNKNOWN_VALUE, "the precision is %d; give DOUBLE (0) or SINGLE (1)", (int)wire);
        return false;
    }
}

static bool read_on_error(batch *b, Dynamics__V1__OnError wire) {
    b->is_marking = wire == DYNAMICS__V1__ON_ERROR__ON_ERROR_MARK;
    if (wire != DYNAMICS__V1__ON_ERROR__ON_ERROR_FAIL && !b->is_marking) {
        call_blame(b->call, "query.on_error");
        call_fail(b->call, REASON_UNKNOWN_VALUE, "on_error is %d; give FAIL (0) or MARK (1)", (int)wire);
        return false;
    }
    return true;
}

bool query_read(batch *b, const Dynamics__V1__Query *query) {
    return read_order(b, query->n_joint_names, query->joint_names) && query_read_gravity(b->call, query, &b->gravity) &&
           query_read_payloads(b, query->n_payloads, query->payloads) && read_precision(b, query->precision) &&
           read_on_error(b, query->on_error);
}

/* ---- external forces --------------------------------------------------------------------------------------------- */

/* Checks the count and the numbers of one of the two blocks of a force. */
static bool check_block(batch *b, const char *path, const char *name, size_t count, const double *values) {
    size_t rows = b->force_rows;
    if (count != 0 && count != 3 && count != 3 * rows) {
        call_blame(b->call, "%s.%s", path, name);
        call_fail(b->call, REASON_WRONG_COUNT,
                  "%s has %zu values; give 3 that hold for all samples or rows, %zu (3 for each), or none", name, count,
                  3 * rows);
        return false;
    }
    for (size_t k = 0; k < count; k++) {
        if (!isfinite(values[k])) {
            call_blame(b->call, "%s.%s[%zu]", path, name, k);
            call_fail(b->call, REASON_NOT_FINITE, "%s[%zu] is %g; give a finite number", name, k, values[k]);
            return false;
        }
    }
    return true;
}

/* Interleaves force and torque rows to wrenches (n; f). */
static void fill_wrenches(const Dynamics__V1__ExternalForce *force, size_t count, double *wrench) {
    size_t force_stride = force->n_force > 3 ? 3 : 0, torque_stride = force->n_torque > 3 ? 3 : 0;
    for (size_t s = 0; s < count; s++) {
        for (size_t k = 0; k < 3; k++) {
            wrench[6 * s + k] = force->n_torque ? force->torque[s * torque_stride + k] : 0;
            wrench[6 * s + 3 + k] = force->n_force ? force->force[s * force_stride + k] : 0;
        }
    }
}

/* Converts one external force to the library's form. */
static bool read_force(batch *b, const char *path, const Dynamics__V1__ExternalForce *force,
                       dyn_external_force *result) {
    if (!check_block(b, path, "force", force->n_force, force->force) ||
        !check_block(b, path, "torque", force->n_torque, force->torque)) {
        return false;
    }
    call_blame(b->call, "%s.link", path);
    if (!batch_find_frame(b, REASON_LINK_NOT_FOUND, force->link, &result->frame)) {
        return false;
    }
    call_blame(b->call, "%s.frame", path);
    if (!batch_reference_frame(b, force->frame, &result->reference_frame)) {
        return false;
    }
    bool has_rows = force->n_force > 3 || force->n_torque > 3;
    size_t count = has_rows ? b->force_rows : 1;
    double *wrench = call_allocate(b->call, 6 * count, sizeof(double));
    if (!wrench) {
        return false;
    }
    fill_wrenches(force, count, wrench);
    result->wrench = wrench;
    result->stride = has_rows ? 6 : 0;
    return true;
}

bool query_read_forces(batch *b, const Dynamics__V1__Query *query) {
    /* One more than the query has: see query_add_force. */
    b->forces = call_allocate(b->call, query->n_external_forces + 1, sizeof *b->forces);
    for (size_t i = 0; b->forces && i < query->n_external_forces; i++) {
        char path[PATH_SIZE];
        snprintf(path, sizeof path, "query.external_forces[%zu]", i);
        if (!read_force(b, path, query->external_forces[i], &b->forces[b->force_count++])) {
            return false;
        }
    }
    return b->forces != NULL;
}

bool query_add_force(batch *b, const char *path, const Dynamics__V1__ExternalForce *force) {
    return read_force(b, path, force, &b->forces[b->force_count++]);
}
