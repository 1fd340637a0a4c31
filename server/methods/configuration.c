/* SPDX-License-Identifier: BSD-2-Clause */
/* ComputeConfigurations: integrate, difference, interpolate, distance, normalize, neutral, random. */
#include <dynamics/dynamics.h>
#include <math.h>
#include <string.h>

#include "methods/batch.h"
#include "methods/methods.h"

/* ns for one coordinate of one sample, roughly. */
static const double COORDINATE_COST = 40;

/* Operands of an operation beside q. An operation without q takes a number of samples. */
typedef struct operation {
    bool q, q_1, v, dt, s, seed;
    bool yields_v, yields_distance; /* neither: q */
    batch_step step;                /* NULL: it needs no q */
} operation;

/* Inputs and outputs of the steps, in the model's order. */
typedef struct task {
    const double *q_1, *v;
    size_t factor_count;   /* 0: 1 for all */
    const double *factors; /* dt, or s */
    double *result;
} task;

/* ---- steps ------------------------------------------------------------------------------------------------------- */

/* Rows of v times the factors of their samples. */
static void scale_rows(const batch *b, const task *t, const double *v, size_t first, size_t count, double *scaled) {
    for (size_t s = 0; s < count; s++) {
        double factor = t->factor_count == 0 ? 1 : t->factors[t->factor_count == 1 ? 0 : first + s];
        for (size_t i = 0; i < b->nv; i++) {
            scaled[s * b->nv + i] = factor * (v ? v[s * b->nv + i] : 0);
        }
    }
}

static dyn_status integrate_step(const batch *b, const batch_worker *w, const void *context, size_t first, size_t count,
                                 dyn_error *error) {
    const task *t = context;
    scale_rows(b, t, t->v ? t->v + first * b->nv : NULL, first, count, w->scratch);
    return dyn_integrate(b->model, count, b->q + first * b->nq, w->scratch, 1, error, t->result + first * b->nq);
}

static dyn_status difference_step(const batch *b, const batch_worker *w, const void *context, size_t first,
                                  size_t count, dyn_error *error) {
    (void)w;
    const task *t = context;
    return dyn_difference(b->model, count, b->q + first * b->nq, t->q_1 + first * b->nq, error,
                          t->result + first * b->nv);
}

static dyn_status interpolate_step(const batch *b, const batch_worker *w, const void *context, size_t first,
                                   size_t count, dyn_error *error) {
    const task *t = context;
    const double *q = b->q + first * b->nq;
    dyn_status status = dyn_difference(b->model, count, q, t->q_1 + first * b->nq, error, w->scratch);
    if (status == DYN_OK) {
        scale_rows(b, t, w->scratch, first, count, w->scratch);
        status = dyn_integrate(b->model, count, q, w->scratch, 1, error, t->result + first * b->nq);
    }
    return status;
}

static dyn_status distance_step(const batch *b, const batch_worker *w, const void *context, size_t first, size_t count,
                                dyn_error *error) {
    (void)w;
    const task *t = context;
    return dyn_distance(b->model, count, b->q + first * b->nq, t->q_1 + first * b->nq, error, t->result + first);
}

static dyn_status normalize_step(const batch *b, const batch_worker *w, const void *context, size_t first, size_t count,
                                 dyn_error *error) {
    (void)w;
    const task *t = context;
    return dyn_normalize(b->model, count, b->q + first * b->nq, error, t->result + first * b->nq);
}

#define OPERATION(name) DYNAMICS__V1__CONFIGURATION_OPERATION__CONFIGURATION_OPERATION_##name

static const operation operations[] = {
    [OPERATION(INTEGRATE)] = {.q = true, .v = true, .dt = true, .step = integrate_step},
    [OPERATION(DIFFERENCE)] = {.q = true, .q_1 = true, .yields_v = true, .step = difference_step},
    [OPERATION(INTERPOLATE)] = {.q = true, .q_1 = true, .s = true, .step = interpolate_step},
    [OPERATION(DISTANCE)] = {.q = true, .q_1 = true, .yields_distance = true, .step = distance_step},
    [OPERATION(NORMALIZE)] = {.q = true, .step = normalize_step},
    [OPERATION(NEUTRAL)] = {.q = false},
    [OPERATION(RANDOM)] = {.seed = true},
};

/* ---- the question ------------------------------------------------------------------------------------------------ */

/* Refuses a field that the operation does not take. */
static bool check_field(call *c, const char *field, bool is_taken, bool is_there) {
    if (is_taken || !is_there) {
        return true;
    }
    call_blame(c, "%s", field);
    call_fail(c, REASON_UNUSED_FIELD, "this operation takes no %s; leave it out", field);
    return false;
}

/* The operation of a request; NULL, and the call ended, when it is none or has fields that it does not take. */
static const operation *find_operation(call *c, const Dynamics__V1__ComputeConfigurationsRequest *r) {
    if (r->operation <= 0 || (size_t)r->operation >= sizeof operations / sizeof operations[0]) {
        call_blame(c, "operation");
        call_fail(c, REASON_UNKNOWN_VALUE, "operation is %d; give one from INTEGRATE (1) to RANDOM (7)",
                  (int)r->operation);
        return NULL;
    }
    const operation *o = &operations[r->operation];
    bool fits = check_field(c, "q", o->q, r->n_q > 0) && check_field(c, "q_1", o->q_1, r->n_q_1 > 0) &&
                check_field(c, "v", o->v, r->n_v > 0) && check_field(c, "dt", o->dt, r->n_dt > 0) &&
                check_field(c, "s", o->s, r->n_s > 0) && check_field(c, "samples", !o->q, r->samples > 0) &&
                check_field(c, "seed", o->seed, r->seed > 0);
    return fits ? o : NULL;
}

/* Checks dt or s: one, one for each sample, or none where that is allowed. */
static bool take_factors(batch *b, task *t, const char *field, bool is_needed, size_t count, const double *factors) {
    call_blame(b->call, "%s", field);
    if (count != 1 && count != b->n && (count != 0 || is_needed)) {
        call_fail(b->call, REASON_WRONG_COUNT, "%s has %zu values; give one for all samples, or one for each of %zu",
                  field, count, b->n);
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(factors[i])) {
            call_blame(b->call, "%s[%zu]", field, i);
            call_fail(b->call, REASON_NOT_FINITE, "the number is %g; give a finite one", factors[i]);
            return false;
        }
    }
    t->factor_count = count;
    t->factors = factors;
    return true;
}

/* Checks all but the numbers of q, q_1 and v. */
static bool check_request(batch *b, const operation *o, task *t) {
    const Dynamics__V1__ComputeConfigurationsRequest *r = b->call->request->compute_configurations;
    if (o->q_1 && r->n_q_1 != r->n_q) {
        call_blame(b->call, "q_1");
        call_fail(b->call, REASON_WRONG_COUNT, "q_1 has %zu values; give as many as q has, %zu", r->n_q_1, r->n_q);
        return false;
    }
    return batch_check(b, "v", r->n_v) && (!o->dt || take_factors(b, t, "dt", false, r->n_dt, r->dt)) &&
           (!o->s || take_factors(b, t, "s", true, r->n_s, r->s));
}

/* ---- the answer -------------------------------------------------------------------------------------------------- */

static void fill(batch *b, const operation *o, double *result) {
    call *c = b->call;
    Dynamics__V1__ComputeConfigurationsReply *reply = call_allocate(c, 1, sizeof *reply);
    if (!reply) {
        return;
    }
    dynamics__v1__compute_configurations_reply__init(reply);
    reply->samples = b->n;
    if (o->yields_distance) {
        reply->n_distance = b->n;
        reply->distance = result;
    } else if (o->yields_v) {
        reply->n_v = b->n * b->nv;
        reply->v = batch_vectors(b, result);
    } else {
        reply->n_q = b->n * b->nq;
        reply->q = batch_ordered_configurations(b, result);
    }
    if (!call_has_ended(c)) {
        c->reply.result_case = DYNAMICS__V1__REPLY__RESULT_COMPUTE_CONFIGURATIONS;
        c->reply.compute_configurations = reply;
    }
}

/* Runs the operation's step over all samples. */
static bool compute(batch *b, const operation *o, task *t) {
    const Dynamics__V1__ComputeConfigurationsRequest *r = b->call->request->compute_configurations;
    t->q_1 = o->q_1 ? batch_configurations(b, r->q_1) : NULL;
    t->v = batch_input(b, r->n_v, r->v);
    size_t samples = b->n < BLOCK_SAMPLES ? b->n : BLOCK_SAMPLES;
    return !call_has_ended(b->call) && batch_run(b, o->step, t, (o->dt || o->s) * samples * b->nv * sizeof(double));
}

/* Samples that follow from the model alone. */
static bool draw(batch *b, const operation *o, double *q) {
    uint64_t state = b->call->request->compute_configurations->seed;
    for (size_t s = 0; s < b->n; s++) {
        if (s % BLOCK_SAMPLES == 0 && !call_proceed(b->call, (double)s / (double)b->n)) {
            return false;
        }
        if (o->seed) {
            dyn_random_configuration(b->model, &state, q + s * b->nq);
        } else {
            dyn_zero_configuration(b->model, q + s * b->nq);
        }
    }
    return true;
}

void method_compute_configurations(call *c) {
    const Dynamics__V1__ComputeConfigurationsRequest *r = c->request->compute_configurations;
    batch b;
    task t = {0};
    const operation *o = batch_open_model(c, &b, r->query, QUERY_JOINT_NAMES) ? find_operation(c, r) : NULL;
    bool is_open = o && (o->q ? batch_set_q(&b, r->n_q, r->q) : batch_set_samples(&b, r->samples > 0 ? r->samples : 1));
    if (is_open && check_request(&b, o, &t)) {
        size_t width = o->yields_distance ? 1 : o->yields_v ? b.nv : b.nq;
        batch_expect(&b, width);
        if (batch_begin(&b, COORDINATE_COST * (double)b.nq)) {
            t.result = batch_output(&b, width);
        }
        if (t.result && (o->step ? compute(&b, o, &t) : draw(&b, o, t.result))) {
            fill(&b, o, t.result);
        }
    }
    batch_close(&b);
}
