/* SPDX-License-Identifier: BSD-2-Clause */
/* ComputeConfigurations: integrates, differentiates, interpolates, measures, normalizes and generates
 * configurations. */
#include <dynamics/dynamics.h>
#include <math.h>
#include <string.h>

#include "methods/batch.h"
#include "methods/methods.h"

/* Approximate cost of one coordinate of one sample, ns. */
static const double COORDINATE_COST = 40;

/* Properties of an operation of the request. */
typedef struct operation {
    bool yields_v, yields_distance; /* the result is a velocity, or a distance; neither: it is q */
    bool has_factors;               /* the step scales tangent vectors by factors */
    batch_step step;                /* NULL: the operation needs no q, and `draw` computes it */
} operation;

/* Operands of a request, in the caller's order. Operands that the operation does not use are empty. */
typedef struct operands {
    const double *q, *q_1, *v, *factors;
    size_t q_count, q_1_count, v_count, factor_count;
    const char *factor_name; /* name in the request; NULL: the operation has no factors */
    bool has_q_1, needs_factors;
    bool is_random;
    uint64_t samples, seed; /* number of samples, and seed, of operations without q */
} operands;

/* Inputs and outputs of the steps, in the model's order. */
typedef struct task {
    const double *q_1, *v;
    size_t factor_count;   /* 0: the factor is 1 for all samples */
    const double *factors; /* step lengths of integrate, or s of interpolate */
    double *result;
} task;

/* ---- steps ------------------------------------------------------------------------------------------------------- */

/* Multiplies rows of v by the factors of their samples. */
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
    return dyn_integrate(b->model, count, b->q + first * b->nq, w->scratch, 1, t->result + first * b->nq, error);
}

static dyn_status difference_step(const batch *b, const batch_worker *w, const void *context, size_t first,
                                  size_t count, dyn_error *error) {
    (void)w;
    const task *t = context;
    return dyn_difference(b->model, count, b->q + first * b->nq, t->q_1 + first * b->nq, t->result + first * b->nv,
                          error);
}

static dyn_status interpolate_step(const batch *b, const batch_worker *w, const void *context, size_t first,
                                   size_t count, dyn_error *error) {
    const task *t = context;
    const double *q = b->q + first * b->nq;
    dyn_status status = dyn_difference(b->model, count, q, t->q_1 + first * b->nq, w->scratch, error);
    if (status == DYN_OK) {
        scale_rows(b, t, w->scratch, first, count, w->scratch);
        status = dyn_integrate(b->model, count, q, w->scratch, 1, t->result + first * b->nq, error);
    }
    return status;
}

static dyn_status distance_step(const batch *b, const batch_worker *w, const void *context, size_t first, size_t count,
                                dyn_error *error) {
    (void)w;
    const task *t = context;
    return dyn_distance(b->model, count, b->q + first * b->nq, t->q_1 + first * b->nq, t->result + first, error);
}

static dyn_status normalize_step(const batch *b, const batch_worker *w, const void *context, size_t first, size_t count,
                                 dyn_error *error) {
    (void)w;
    const task *t = context;
    return dyn_normalize(b->model, count, b->q + first * b->nq, t->result + first * b->nq, error);
}

#define OPERATION(name) DYNAMICS__V1__COMPUTE_CONFIGURATIONS_REQUEST__OPERATION_##name

static const operation *find_operation(const Dynamics__V1__ComputeConfigurationsRequest *r) {
    static const operation integrate = {.has_factors = true, .step = integrate_step};
    static const operation difference = {.yields_v = true, .step = difference_step};
    static const operation interpolate = {.has_factors = true, .step = interpolate_step};
    static const operation distance = {.yields_distance = true, .step = distance_step};
    static const operation normalize = {.step = normalize_step};
    static const operation samples = {.step = NULL};
    switch (r->operation_case) {
    case OPERATION(INTEGRATE):
        return &integrate;
    case OPERATION(DIFFERENCE):
        return &difference;
    case OPERATION(INTERPOLATE):
        return &interpolate;
    case OPERATION(DISTANCE):
        return &distance;
    case OPERATION(NORMALIZE):
        return &normalize;
    case OPERATION(NEUTRAL):
    case OPERATION(RANDOM):
        return &samples;
    default:
        return NULL;
    }
}

/* ---- the question ------------------------------------------------------------------------------------------------ */

/* Collects the operands of the request's operation. */
static operands collect(const Dynamics__V1__ComputeConfigurationsRequest *r) {
    switch (r->operation_case) {
    case OPERATION(INTEGRATE):
        return (operands){.q = r->integrate->q,
                          .q_count = r->integrate->n_q,
                          .v = r->integrate->v,
                          .v_count = r->integrate->n_v,
                          .factors = r->integrate->step_length,
                          .factor_count = r->integrate->n_step_length,
                          .factor_name = "step_length"};
    case OPERATION(DIFFERENCE):
        return (operands){.q = r->difference->q,
                          .q_count = r->difference->n_q,
                          .q_1 = r->difference->q_1,
                          .q_1_count = r->difference->n_q_1,
                          .has_q_1 = true};
    case OPERATION(INTERPOLATE):
        return (operands){.q = r->interpolate->q,
                          .q_count = r->interpolate->n_q,
                          .q_1 = r->interpolate->q_1,
                          .q_1_count = r->interpolate->n_q_1,
                          .has_q_1 = true,
                          .factors = r->interpolate->s,
                          .factor_count = r->interpolate->n_s,
                          .factor_name = "s",
                          .needs_factors = true};
    case OPERATION(DISTANCE):
        return (operands){.q = r->distance->q,
                          .q_count = r->distance->n_q,
                          .q_1 = r->distance->q_1,
                          .q_1_count = r->distance->n_q_1,
                          .has_q_1 = true};
    case OPERATION(NORMALIZE):
        return (operands){.q = r->normalize->q, .q_count = r->normalize->n_q};
    case OPERATION(RANDOM):
        return (operands){.is_random = true, .samples = r->random->samples, .seed = r->random->seed};
    default:
        return (operands){.samples = r->neutral->samples};
    }
}

/* Checks the factors, and sets them in the task: one, one for each sample, or none if the operation does not need
 * them. */
static bool read_factors(batch *b, task *t, const operands *from) {
    const char *field = from->factor_name;
    size_t count = from->factor_count;
    if (count != 1 && count != b->n && (count != 0 || from->needs_factors)) {
        batch_blame(b, "%s", field);
        call_fail(b->call, REASON_WRONG_COUNT, "%s has %zu values; pass one for all samples, or one for each of %zu",
                  field, count, b->n);
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(from->factors[i])) {
            batch_blame(b, "%s[%zu]", field, i);
            call_fail(b->call, REASON_NOT_FINITE, "the number is %g; pass a finite one", from->factors[i]);
            return false;
        }
    }
    t->factor_count = count;
    t->factors = from->factors;
    return true;
}

/* Checks the counts of q_1 and v, and the factors. The library checks the numbers of q, q_1 and v. */
static bool check_request(batch *b, const operands *from, task *t) {
    if (from->has_q_1 && from->q_1_count != from->q_count) {
        batch_blame(b, "q_1");
        call_fail(b->call, REASON_WRONG_COUNT, "q_1 has %zu values; pass as many as q has, %zu", from->q_1_count,
                  from->q_count);
        return false;
    }
    return batch_check(b, "v", from->v_count) && (!from->factor_name || read_factors(b, t, from));
}

/* ---- the answer -------------------------------------------------------------------------------------------------- */

static void fill(batch *b, const operation *o, double *result) {
    call *c = b->call;
    Dynamics__V1__ComputeConfigurationsReply *reply = create_compute_configurations_reply(c);
    if (!reply) {
        return;
    }
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
}

/* Runs the operation's step over all samples. Returns false when the call has ended. */
static bool compute(batch *b, const operation *o, const operands *from, task *t) {
    t->q_1 = from->has_q_1 ? batch_configurations(b, from->q_1) : NULL;
    t->v = batch_input(b, from->v_count, from->v);
    size_t samples = b->n < BLOCK_SAMPLES ? b->n : BLOCK_SAMPLES;
    return !call_has_ended(b->call) && batch_run(b, o->step, t, o->has_factors * samples * b->nv * sizeof(double));
}

/* Computes the samples of neutral and random, which depend on the model and the seed alone. Returns false when the call
 * has ended. */
static bool draw(batch *b, const operands *from, double *q) {
    uint64_t state = from->seed;
    for (size_t s = 0; s < b->n; s++) {
        if (s % BLOCK_SAMPLES == 0 && !call_proceed(b->call, (double)s / (double)b->n)) {
            return false;
        }
        if (from->is_random) {
            dyn_random_configuration(b->model, &state, q + s * b->nq);
        } else {
            dyn_zero_configuration(b->model, q + s * b->nq);
        }
    }
    return true;
}

/* Runs an operation whose samples are set, and writes the reply. */
static void run(batch *b, const operation *o, const operands *from) {
    task t = {0};
    if (!check_request(b, from, &t)) {
        return;
    }
    size_t width = o->yields_distance ? 1 : o->yields_v ? b->nv : b->nq;
    batch_expect(b, width);
    if (batch_begin(b, COORDINATE_COST * (double)b->nq)) {
        t.result = batch_output(b, width);
    }
    if (t.result && (o->step ? compute(b, o, from, &t) : draw(b, from, t.result))) {
        fill(b, o, t.result);
    }
}

/* Returns the name of the field that holds the operation in the request, such as "integrate". */
static const char *part_of(const Dynamics__V1__ComputeConfigurationsRequest *r) {
    return protobuf_c_message_descriptor_get_field(&dynamics__v1__compute_configurations_request__descriptor,
                                                   (unsigned)r->operation_case)
        ->name;
}

void method_compute_configurations(call *c) {
    const Dynamics__V1__ComputeConfigurationsRequest *r = c->request->compute_configurations;
    const operation *o = find_operation(r);
    batch b;
    bool is_open = batch_open_model(c, &b, r->query, QUERY_JOINT_NAMES | QUERY_CONSTRAINTS);
    if (is_open && !o) {
        call_blame(c, "operation");
        call_fail(c, REASON_MISSING_VALUE, "there is no operation; pass one, such as integrate or difference");
    } else if (is_open) {
        const operands from = collect(r);
        b.part = part_of(r);
        if (o->step ? batch_set_q(&b, from.q_count, from.q)
                    : batch_set_samples(&b, from.samples > 0 ? from.samples : 1)) {
            run(&b, o, &from);
        }
    }
    batch_close(&b);
}
