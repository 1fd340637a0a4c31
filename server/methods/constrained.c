/* SPDX-License-Identifier: BSD-2-Clause */
/* Computes the forward dynamics of models with constraints. */
#include "methods/constrained.h"

#include <dynamics/dynamics.h>
#include <math.h>
#include <string.h>

#include "methods/given_rows.h"
#include "methods/methods.h"
#include "methods/motion.h"
#include "methods/passive_forces.h"

#define METHOD(name) DYNAMICS__V1__CONSTRAINT_METHOD__CONSTRAINT_METHOD_##name

/* Inputs and results of a batch, in the model's order. */
typedef struct constrained_task {
    dyn_constraint_options options;
    size_t m;
    const double *v, *tau; /* NULL: zeros */
    double *a, *multipliers;
    dyn_constraint_result *results;
} constrained_task;

/* Checks that a method of the library has the number that it has in the protocol. */
#define SAME_NUMBER(name, wire) _Static_assert((int)DYN_CONSTRAINT_METHOD_##name == (int)METHOD(wire), #name)
SAME_NUMBER(AUTO, UNSPECIFIED);
SAME_NUMBER(FULL_SYSTEM, FULL_SYSTEM);
SAME_NUMBER(MULTIPLIERS, MULTIPLIERS);
SAME_NUMBER(ELIMINATION, ELIMINATION);
SAME_NUMBER(ARTICULATED_BODIES, ARTICULATED_BODIES);
SAME_NUMBER(EMBEDDING, EMBEDDING);
#undef SAME_NUMBER

/* ---- the question ------------------------------------------------------------------------------------------------ */

const char *constrained_option_of(const Dynamics__V1__ForwardDynamicsRequest *r) {
    return r->constraint_method != METHOD(UNSPECIFIED) ? "constraint_method"
           : r->constraint_stabilization != 0          ? "constraint_stabilization"
           : r->constraint_tolerance != 0              ? "constraint_tolerance"
                                                       : NULL;
}

bool constrained_check_absent(batch *b, const Dynamics__V1__ForwardDynamicsRequest *r) {
    const char *unused = constrained_option_of(r);
    if (unused) {
        batch_blame(b, "%s", unused);
        call_fail(b->call, REASON_UNUSED_FIELD, "model \"%s\" has no constraints; leave it out", b->entry->name);
    }
    return !call_has_ended(b->call);
}

/* Share of the terms of a row up to which a residual stands for rounding and open loops, not for contradiction. */
static const double usual_tolerance = 0.01;

/* Checks the gain and the tolerance. Returns false when the call has ended. */
static bool check_gains(batch *b, const Dynamics__V1__ForwardDynamicsRequest *r) {
    if (!(r->constraint_stabilization >= 0) || !isfinite(r->constraint_stabilization)) {
        batch_blame(b, "constraint_stabilization");
        call_fail(b->call, REASON_INVALID_VALUE,
                  "the stabilization is %g 1/s; pass a finite number that is not negative",
                  r->constraint_stabilization);
        return false;
    }
    if (!(r->constraint_tolerance >= 0 && r->constraint_tolerance <= 1)) {
        batch_blame(b, "constraint_tolerance");
        call_fail(b->call, REASON_INVALID_VALUE, "the tolerance is %g; pass a number from 0 to 1",
                  r->constraint_tolerance);
        return false;
    }
    return true;
}

static bool read_options(batch *b, const Dynamics__V1__ForwardDynamicsRequest *r, dyn_constraint_options *options) {
    const dyn_passive_parts *passive = passive_forces_count(&b->values.passive) ? &b->values.passive : NULL;
    *options = (dyn_constraint_options)DYN_CONSTRAINT_OPTIONS_INIT(.stabilization = r->constraint_stabilization,
                                                                   .passive = passive,
                                                                   .tolerance = r->constraint_tolerance > 0
                                                                                    ? r->constraint_tolerance
                                                                                    : usual_tolerance);
    if (!check_gains(b, r)) {
        return false;
    }
    if (b->query->rows &&
        (r->constraint_method == METHOD(MULTIPLIERS) || r->constraint_method == METHOD(ARTICULATED_BODIES) ||
         r->constraint_method == METHOD(EMBEDDING))) {
        batch_blame(b, "constraint_method");
        call_fail(b->call, REASON_CONFLICTING_FIELDS,
                  "rows of a request need FULL_SYSTEM (1) or ELIMINATION (3), or nothing");
        return false;
    }
    switch (r->constraint_method) {
    case METHOD(UNSPECIFIED):
    case METHOD(FULL_SYSTEM):
    case METHOD(MULTIPLIERS):
    case METHOD(ELIMINATION):
    case METHOD(ARTICULATED_BODIES):
    case METHOD(EMBEDDING):
        options->method = dyn_constraint_method_for(b->model, (dyn_constraint_method)r->constraint_method);
        return true;
    default:
        batch_blame(b, "constraint_method");
        call_fail(
            b->call, REASON_UNKNOWN_VALUE,
            "constraint_method is %d; pass FULL_SYSTEM (1), MULTIPLIERS (2), ELIMINATION (3), ARTICULATED_BODIES (4), "
            "EMBEDDING (5), or nothing for the fastest",
            (int)r->constraint_method);
        return false;
    }
}

/* ---- the work ---------------------------------------------------------------------------------------------------- */

/* Estimates the cost of one sample, ns. */
static double cost(const batch *b, const constrained_task *t) {
    double nv = (double)b->nv, m = (double)t->m, sum = nv + m;
    bool is_dense = t->options.method == DYN_CONSTRAINT_METHOD_FULL_SYSTEM ||
                    t->options.method == DYN_CONSTRAINT_METHOD_ELIMINATION;
    return !is_dense ? 100 * nv + (40 + m) * m * nv + m * m * m + 1000 : 100 * nv + sum * sum * sum + 1000;
}

/* Returns the bytes of scratch memory for `count` samples beside the list of forces: for the forces of a moving base,
 * and for the losses of gears with what they need. */
static size_t scratch_size(const batch *b, size_t count) {
    size_t of_base = b->base.twist ? count * b->nv : 0;
    return (of_base + passive_forces_gear_numbers(b->model, &b->values.passive, count)) * sizeof(double);
}

/* Returns the scratch memory of a worker after the list of forces and the forces of the base, or NULL where no losses
 * of gears count. */
static double *gear_scratch(const batch *b, const batch_worker *w, size_t count) {
    bool counts = b->values.passive.gear_losses && dyn_geared_memory(b->model, 1) > 0;
    double *scratch = counts ? (double *)w->scratch + batch_forces_size(b) / sizeof(double) : NULL;
    return counts && b->base.twist ? scratch + count * b->nv : scratch;
}

/* Adds a times x to y. */
static void add_scaled(size_t count, double a, const double *x, double *y) {
    for (size_t i = 0; i < count; i++) {
        y[i] += a * x[i];
    }
}

/* Writes the forces of the joints in `count` samples to `sum`: tau, the passive forces that count, the forces of a base
 * that moves, and the losses of gears. */
static dyn_status sum_forces(const batch *b, const batch_worker *w, const dyn_geared_states *at, const double *tau,
                             double *sum, dyn_error *error) {
    const size_t entries = at->n * b->nv;
    double *base_forces = (double *)w->scratch + batch_forces_size(b) / sizeof(double);
    double *losses = gear_scratch(b, w, at->n);
    dyn_status status = passive_forces_sum(w->model, at->n, &b->values.passive, at->q, at->v, tau, sum, error);
    if (status == DYN_OK && at->base) {
        status = dyn_base_forces(w->model, w->workspace, at->n, at->q, at->v, at->base, base_forces, NULL, error);
        add_scaled(status == DYN_OK ? entries : 0, -1, base_forces, sum);
    }
    if (status == DYN_OK && losses) {
        status = dyn_gear_losses_under_forces(w->model, w->workspace, at, tau, losses, error);
        add_scaled(status == DYN_OK ? entries : 0, 1, losses, sum);
    }
    return status;
}

static dyn_status step(const batch *b, const batch_worker *w, const void *context, size_t first, size_t count,
                       dyn_error *error) {
    const constrained_task *t = context;
    dyn_given_rows given;
    dyn_constraint_options options = t->options;
    dyn_external_forces forces;
    dyn_base_motion base;
    double *a = t->a + first * b->nv, *losses = gear_scratch(b, w, count);
    const double *tau = motion_rows(t->tau, b->nv, first);
    options.given = given_rows_from(b, first, &given);
    const dyn_geared_states at = {.n = count,
                                  .gravity = b->values.gravity,
                                  .q = b->q + first * b->nq,
                                  .v = motion_rows(t->v, b->nv, first),
                                  .forces = batch_forces(b, first, w->scratch, &forces),
                                  .parts = b->values.passive,
                                  .base = batch_base(b, first, &base),
                                  .constraints = &options,
                                  .memory = losses ? losses + count * b->nv : NULL};
    if (passive_forces_count(&b->values.passive) || at.base || losses) {
        dyn_status status = sum_forces(b, w, &at, tau, a, error);
        if (status != DYN_OK) {
            return status;
        }
        tau = a;
    }
    return dyn_constrained_forward_dynamics(w->model, w->workspace, count, at.gravity, at.q, at.v, tau, at.forces,
                                            &options, a, t->multipliers + first * t->m, t->results + first, error);
}

/* ---- the answer -------------------------------------------------------------------------------------------------- */

static Dynamics__V1__ConstraintSolution *write_solution(batch *b, const constrained_task *t) {
    Dynamics__V1__ConstraintSolution *to = call_allocate(b->call, 1, sizeof *to);
    double *residuals = batch_output(b, 1), *conditions = batch_output(b, 1);
    uint64_t *ranks = call_allocate(b->call, b->n, sizeof *ranks);
    if (call_has_ended(b->call)) {
        return NULL;
    }
    dynamics__v1__constraint_solution__init(to);
    to->method = (Dynamics__V1__ConstraintMethod)t->options.method;
    to->n_multipliers = b->n * t->m;
    to->multipliers = t->multipliers;
    for (size_t i = 0; i < b->n; i++) {
        ranks[i] = (uint64_t)t->results[i].rank;
        residuals[i] = t->results[i].residual;
        conditions[i] = t->results[i].condition;
    }
    to->n_ranks = to->n_residuals = to->n_conditions = b->n;
    to->ranks = ranks;
    to->residuals = residuals;
    to->conditions = conditions;
    batch_mark_rows(b, t->m, t->multipliers);
    batch_mark_rows(b, 1, residuals);
    batch_mark_rows(b, 1, conditions);
    return to;
}

bool constrained_forward_dynamics(batch *b, const Dynamics__V1__ForwardDynamicsRequest *r) {
    constrained_task t = {0};
    if (!batch_check(b, "v", r->n_v) || !batch_check(b, "tau", r->n_tau) || !read_options(b, r, &t.options) ||
        !given_rows_read(b)) {
        return false;
    }
    if (b->given.count > 0 && t.options.method != DYN_CONSTRAINT_METHOD_ELIMINATION) {
        t.options.method = DYN_CONSTRAINT_METHOD_FULL_SYSTEM;
    }
    t.m = given_rows_total(b);
    batch_expect(b, b->nv + t.m + 3);
    if (!batch_begin(b, cost(b, &t))) {
        return false;
    }
    t.v = batch_input(b, r->n_v, r->v);
    t.tau = batch_input(b, r->n_tau, r->tau);
    t.a = batch_output(b, b->nv);
    t.multipliers = batch_output(b, t.m);
    t.results = call_allocate(b->call, b->n, sizeof *t.results);
    if (call_has_ended(b->call) || !batch_run(b, step, &t, batch_forces_size(b) + scratch_size(b, BLOCK_SAMPLES))) {
        return false;
    }
    batch_mark_rows(b, b->nv, t.a);
    Dynamics__V1__ForwardDynamicsReply *reply = create_forward_dynamics_reply(b->call);
    if (reply) {
        reply->samples = b->n;
        reply->n_a = b->n * b->nv;
        reply->a = batch_vectors(b, t.a);
        reply->constraints = write_solution(b, &t);
        reply->passive_forces = passive_forces_write(b->call, &b->values.passive);
    }
    return reply != NULL;
}
