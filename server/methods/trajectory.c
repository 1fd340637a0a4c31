/* SPDX-License-Identifier: BSD-2-Clause */
/* InverseDynamicsTrajectory, ForwardDynamicsTrajectory, DeriveRates: compute with motions that are rows over time. */
#include <dynamics/base_motion.h>
#include <dynamics/inverse_dynamics.h>
#include <dynamics/machine_element.h>
#include <dynamics/trajectory.h>
#include <math.h>
#include <string.h>

#include "methods/given_rows.h"
#include "methods/methods.h"
#include "methods/motion.h"
#include "methods/motion_agreement.h"
#include "methods/query.h"
#include "methods/stepping.h"

/* Approximate costs of one coordinate, ns: of one row of the inverse dynamics, and of one evaluation in a step of the
 * forward dynamics. */
static const double ROW_COST = 60, STEP_COST = 60;

/* ---- what the methods share ------------------------------------------------------------------------------------ */

static const char *name_of(batch *b, int joint) {
    return dyn_model_joint(b->model, joint)->name;
}

static const Dynamics__V1__LimitKind limit_kinds[] = {
    [DYN_LIMIT_KIND_LOWER] = DYNAMICS__V1__LIMIT_KIND__LIMIT_KIND_LOWER,
    [DYN_LIMIT_KIND_UPPER] = DYNAMICS__V1__LIMIT_KIND__LIMIT_KIND_UPPER,
    [DYN_LIMIT_KIND_VELOCITY] = DYNAMICS__V1__LIMIT_KIND__LIMIT_KIND_VELOCITY,
    [DYN_LIMIT_KIND_EFFORT] = DYNAMICS__V1__LIMIT_KIND__LIMIT_KIND_EFFORT,
};

/* Lists the limits that rows in the model's order exceed. `time` may be NULL. Returns an array in the call's memory of
 * `count` entries; it may be NULL with 0 entries, and the call has ended, when out of memory. */
static Dynamics__V1__LimitExcess **find_excesses(batch *b, size_t n, const double *time, const double *q,
                                                 const double *v, const double *tau, size_t *count) {
    size_t most = 4 * (size_t)dyn_model_joint_count(b->model);
    dyn_limit_excess *found = call_allocate(b->call, most, sizeof *found);
    Dynamics__V1__LimitExcess *messages = call_allocate(b->call, most, sizeof *messages);
    Dynamics__V1__LimitExcess **list = call_allocate(b->call, most, sizeof *list);
    *count = found && messages && list ? dyn_limit_excesses(b->model, n, q, v, tau, found) : 0;
    for (size_t i = 0; i < *count; i++) {
        const dyn_limit_excess *e = &found[i];
        Dynamics__V1__LimitExcess *m = list[i] = &messages[i];
        dynamics__v1__limit_excess__init(m);
        m->joint = call_string(b->call, name_of(b, e->joint));
        m->kind = limit_kinds[e->kind];
        m->limit = e->limit;
        m->value = e->value;
        m->worst_row = e->worst, m->worst_time = time ? time[e->worst] : 0;
        m->first_row = e->first, m->first_time = time ? time[e->first] : 0;
        m->last_row = e->last, m->last_time = time ? time[e->last] : 0;
        m->rows = e->rows;
    }
    return list;
}

/* Converts the force or the torque of the tip, 3 numbers for each row, 3 for all rows or none, to those of an external
 * force, which has the opposite sign. `negated` is in the call's memory. Returns false when the call has ended. */
static bool negate_block(batch *b, const char *name, size_t count, const double *values, double **negated) {
    size_t rows = b->force_rows;
    if (count != 0 && count != 3 && count != 3 * rows) {
        call_blame(b->call, "tip.%s", name);
        call_fail(b->call, REASON_WRONG_COUNT,
                  "%s has %zu values; pass 3 that hold for all rows, %zu (3 for each), or none", name, count, 3 * rows);
        return false;
    }
    *negated = call_allocate(b->call, count, sizeof(double));
    for (size_t k = 0; *negated && k < count; k++) {
        (*negated)[k] = -values[k];
        if (!isfinite(values[k])) {
            call_blame(b->call, "tip.%s[%zu]", name, k);
            call_fail(b->call, REASON_NOT_FINITE, "%s[%zu] is %g; pass a finite number", name, k, values[k]);
            return false;
        }
    }
    return *negated != NULL;
}

/* Adds the reaction of the environment on the tip, if the request has one, to the external forces of the batch. Returns
 * false when the call has ended. */
static bool read_tip(batch *b, const Dynamics__V1__TipWrench *tip) {
    if (!tip) {
        return true;
    }
    Dynamics__V1__ExternalForce reaction = DYNAMICS__V1__EXTERNAL_FORCE__INIT;
    reaction.link = tip->link;
    reaction.reference_frame = tip->reference_frame;
    reaction.n_force = tip->n_force, reaction.n_torque = tip->n_torque;
    return negate_block(b, "force", tip->n_force, tip->force, &reaction.force) &&
           negate_block(b, "torque", tip->n_torque, tip->torque, &reaction.torque) &&
           batch_add_force(b, "tip", &reaction);
}

/* Checks that there are n ascending times, or none if they are not needed. Returns false when the call has ended. */
static bool check_times(batch *b, size_t n, size_t count, const double *time, bool is_needed) {
    if (count != n && (count > 0 || is_needed)) {
        call_blame(b->call, "time");
        call_fail(b->call, REASON_WRONG_COUNT, "time has %zu values; pass one for each of the %zu rows", count, n);
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(time[i]) || (i > 0 && !(time[i] > time[i - 1]))) {
            call_blame(b->call, "time[%zu]", i);
            call_fail(b->call, REASON_INVALID_VALUE, "time[%zu] is %.17g; pass finite times, each after the one before",
                      i, time[i]);
            return false;
        }
    }
    return true;
}

static bool read_rates(batch *b, Dynamics__V1__Rates wire, bool accepts_given, dyn_rates *rates) {
    static const dyn_rates known[] = {DYN_RATES_SPLINE,         DYN_RATES_SPLINE,     DYN_RATES_SPLINE_AT_REST,
                                      DYN_RATES_CENTRAL,        DYN_RATES_FIVE_POINT, DYN_RATES_QUINTIC,
                                      DYN_RATES_QUINTIC_AT_REST};
    int least = accepts_given ? 0 : 1;
    if ((int)wire < least || (size_t)wire >= sizeof known / sizeof known[0]) {
        call_blame(b->call, "rates");
        call_fail(b->call, REASON_UNKNOWN_VALUE,
                  "rates is %d; pass %sSPLINE (1), SPLINE_AT_REST (2), CENTRAL (3), FIVE_POINT (4), QUINTIC_SPLINE (5) "
                  "or QUINTIC_SPLINE_AT_REST (6)",
                  (int)wire, accepts_given ? "GIVEN (0), " : "");
        return false;
    }
    *rates = known[wire];
    return true;
}

/* Derives v and a of all rows from q and the times, in the model's order. Returns false when the call has ended. */
static bool derive(batch *b, const double *time, dyn_rates rates, double **v, double **a) {
    dyn_error error;
    *v = batch_output(b, b->nv);
    *a = batch_output(b, b->nv);
    if (!*v || !*a) {
        return false;
    }
    dyn_status status = dyn_derive_rates(b->model, b->n, time, b->q, rates, *v, *a, &error);
    if (status != DYN_OK) {
        batch_fail(b, 0, &error);
    }
    return status == DYN_OK;
}

/* ---- InverseDynamicsTrajectory --------------------------------------------------------------------------------- */

/* Motion of an inverse dynamics trajectory, and its forces, in the model's order. */
typedef struct inverse_task {
    motion m;
    const double *time; /* of the rows, at which prescribed motions are evaluated; NULL: 0 */
    double *tau;
    dyn_constrained_inverse_result *agreement; /* of each row with constraints; NULL: of none */
} inverse_task;

/* Computes the forces of rows of a model with constraints; each row at its time, where the rows have times. `added` are
 * the forces of a moving base, or NULL. */
static dyn_status constrained_step(const batch *b, const batch_worker *w, const inverse_task *t, size_t first,
                                   size_t count, const double *added, dyn_error *error) {
    const size_t end = first + count, chunk = t->time ? 1 : count;
    dyn_status status = DYN_OK;
    for (size_t i = first; status == DYN_OK && i < end; i += chunk) {
        dyn_external_forces forces;
        const dyn_external_forces *acting = batch_forces(b, i, w->scratch, &forces);
        dyn_given_rows given;
        dyn_constrained_inverse_options options = b->values.motion;
        options.added = motion_rows(added, b->nv, i - first);
        options.given = given_rows_from(b, i, &given);
        status = dyn_workspace_set_time(w->workspace, t->time ? t->time[i] : 0, error);
        if (status == DYN_OK) {
            status = dyn_constrained_inverse_dynamics(
                w->model, w->workspace, chunk, b->values.gravity, b->q + i * b->nq, motion_rows(t->m.v, b->nv, i),
                motion_rows(t->m.a, b->nv, i), acting, &options, t->tau + i * b->nv, NULL, t->agreement + i, error);
        }
        if (status != DYN_OK && error->site.has_sample) {
            error->site.sample += i - first;
        }
    }
    return status;
}

static dyn_status inverse_step(const batch *b, const batch_worker *w, const void *context, size_t first, size_t count,
                               dyn_error *error) {
    const inverse_task *t = context;
    const double *q = b->q + first * b->nq, *v = motion_rows(t->m.v, b->nv, first);
    double *tau = t->tau + first * b->nv, *base_forces = (double *)w->scratch + batch_forces_size(b) / sizeof(double);
    dyn_external_forces forces;
    dyn_base_motion base;
    bool moves = batch_base(b, first, &base) != NULL;
    dyn_status status =
        moves ? dyn_base_forces(w->model, w->workspace, count, q, v, &base, base_forces, NULL, error) : DYN_OK;
    if (status == DYN_OK && given_rows_total(b) > 0) {
        return constrained_step(b, w, t, first, count, moves ? base_forces : NULL, error);
    }
    if (status == DYN_OK) {
        status = dyn_rnea(w->model, w->workspace, count, b->values.gravity, q, v, motion_rows(t->m.a, b->nv, first),
                          batch_forces(b, first, w->scratch, &forces), tau, error);
    }
    for (size_t i = 0; status == DYN_OK && moves && i < count * b->nv; i++) {
        tau[i] += base_forces[i];
    }
    return status;
}

/* Checks that v and a are in the request only if they are not to be derived, and that their counts are right. Returns
 * false when the call has ended. */
static bool check_rates(batch *b, const Dynamics__V1__InverseDynamicsTrajectoryRequest *r) {
    if (r->rates != DYNAMICS__V1__RATES__RATES_GIVEN && (r->n_v > 0 || r->n_a > 0)) {
        call_blame(b->call, r->n_v > 0 ? "v" : "a");
        call_fail(b->call, REASON_CONFLICTING_FIELDS,
                  "rates are to be derived, but %s is given; leave it out, or set rates to GIVEN (0)",
                  r->n_v > 0 ? "v" : "a");
        return false;
    }
    return batch_check(b, "v", r->n_v) && batch_check(b, "a", r->n_a);
}

static void fill_inverse(batch *b, const Dynamics__V1__InverseDynamicsTrajectoryRequest *r, const inverse_task *t,
                         double *v, double *a, Dynamics__V1__InverseDynamicsTrajectoryReply *reply) {
    reply->rows = b->n;
    reply->excesses = find_excesses(b, b->n, r->n_time ? r->time : NULL, b->q, t->m.v, t->tau, &reply->n_excesses);
    reply->n_tau = b->n * b->nv, reply->tau = batch_vectors(b, t->tau);
    reply->agreement = motion_agreement_write(b, t->agreement);
    if (v) {
        reply->n_v = reply->n_a = b->n * b->nv;
        reply->v = batch_vectors(b, v), reply->a = batch_vectors(b, a);
    }
}

void method_inverse_dynamics_trajectory(call *c) {
    const Dynamics__V1__InverseDynamicsTrajectoryRequest *r = c->request->inverse_dynamics_trajectory;
    batch b;
    inverse_task t = {0};
    dyn_rates rates = DYN_RATES_SPLINE;
    double *v = NULL, *a = NULL;
    bool is_derived = r->rates != DYNAMICS__V1__RATES__RATES_GIVEN;
    bool is_ready = batch_open(c, &b, r->query,
                               QUERY_ALL | QUERY_CONSTRAINTS | QUERY_ADDED_CONSTRAINTS | QUERY_ROWS |
                                   QUERY_MOTION_OPTIONS | QUERY_BASE_MOTION,
                               r->n_q, r->q) &&
                    given_rows_read(&b) && read_rates(&b, r->rates, true, &rates) && check_rates(&b, r) &&
                    check_times(&b, b.n, r->n_time, r->time, is_derived);
    if (is_ready) {
        batch_expect(&b, (is_derived ? 3 : 1) * b.nv + (given_rows_total(&b) > 0 ? AGREEMENT_NUMBERS : 0));
        is_ready = batch_begin(&b, ROW_COST * (double)b.nv + stepping_constraint_cost(b.model)) &&
                   read_tip(&b, r->tip) && (!is_derived || derive(&b, r->time, rates, &v, &a));
    }
    if (is_ready) {
        t.m.v = is_derived ? v : batch_input(&b, r->n_v, r->v);
        t.time = r->n_time > 0 ? r->time : NULL;
        t.m.a = is_derived ? a : batch_input(&b, r->n_a, r->a);
        t.tau = batch_output(&b, b.nv);
        t.agreement = given_rows_total(&b) > 0 ? call_allocate(c, b.n, sizeof *t.agreement) : NULL;
    }
    size_t base_size = b.base.twist ? BLOCK_SAMPLES * b.nv * sizeof(double) : 0;
    Dynamics__V1__InverseDynamicsTrajectoryReply *reply = is_ready ? create_inverse_dynamics_trajectory_reply(c) : NULL;
    if (reply && !call_has_ended(c) && batch_run(&b, inverse_step, &t, batch_forces_size(&b) + base_size)) {
        fill_inverse(&b, r, &t, v, a, reply);
    }
    batch_close(&b);
}

/* ---- DeriveRates ----------------------------------------------------------------------------------------------- */

void method_derive_rates(call *c) {
    const Dynamics__V1__DeriveRatesRequest *r = c->request->derive_rates;
    batch b;
    dyn_rates rates;
    double *v, *a;
    bool is_ready = batch_open(c, &b, r->query, QUERY_JOINT_NAMES, r->n_q, r->q) &&
                    read_rates(&b, r->rates, false, &rates) && check_times(&b, b.n, r->n_time, r->time, true);
    if (is_ready) {
        batch_expect(&b, 2 * b.nv);
        is_ready = batch_begin(&b, ROW_COST * (double)b.nv) && derive(&b, r->time, rates, &v, &a);
    }
    Dynamics__V1__DeriveRatesReply *reply = is_ready ? create_derive_rates_reply(c) : NULL;
    if (reply) {
        reply->rows = b.n;
        reply->excesses = find_excesses(&b, b.n, r->time, b.q, v, NULL, &reply->n_excesses);
        reply->n_v = reply->n_a = b.n * b.nv;
        reply->v = batch_vectors(&b, v), reply->a = batch_vectors(&b, a);
    }
    batch_close(&b);
}

/* ---- ForwardDynamicsTrajectory --------------------------------------------------------------------------------- */

/* Options, rows and outcome of a forward dynamics trajectory. */
typedef struct forward_task {
    const Dynamics__V1__ForwardDynamicsTrajectoryRequest *request;
    dyn_simulation_options options;
    step_code code;
    char *computed_with;
    size_t rows;
    double *tau, *q, *v; /* rows of the trajectory, in the model's order */
    dyn_sample_result result;
    size_t diverged_row;
    int constraint; /* constraint with the largest closure error in a row after the first */
    double closure_error;
    double *bristles; /* deflections of friction with bristles */
} forward_task;

/* Reads the stepping options. Without options in the request they are as in Modern Robotics: explicit Euler steps
 * without stops, damping, friction, springs and effort limits. Returns false when the call has ended. */
static bool read_stepping(batch *b, forward_task *t) {
    const Dynamics__V1__ForwardDynamicsTrajectoryRequest *r = t->request;
    Dynamics__V1__Stepping stepping = DYNAMICS__V1__STEPPING__INIT;
    if (r->stepping) {
        stepping = *r->stepping;
    } else {
        stepping.integrator = DYNAMICS__V1__INTEGRATOR__INTEGRATOR_EXPLICIT_EULER;
        stepping.stop = DYNAMICS__V1__JOINT_STOP__JOINT_STOP_NONE;
        stepping.ignore_damping = stepping.ignore_friction = stepping.ignore_springs = true;
        stepping.ignore_gear_losses = stepping.ignore_effort_limits = true;
    }
    if (stepping.controller && stepping.controller->law != DYNAMICS__V1__CONTROL_LAW__CONTROL_LAW_NONE) {
        call_blame(b->call, "stepping.controller");
        call_fail(b->call, REASON_UNUSED_FIELD,
                  "a trajectory of forces has no controller; leave it out, or ask for a Rollout");
        return false;
    }
    if (!stepping_read_batch(b, &stepping, &t->options)) {
        return false;
    }
    t->code = stepping_code(b, &stepping);
    return true;
}

static bool check_start(batch *b, forward_task *t) {
    const Dynamics__V1__ForwardDynamicsTrajectoryRequest *r = t->request;
    if (b->n != 1) {
        call_blame(b->call, "q");
        call_fail(b->call, REASON_WRONG_COUNT, "q has %zu values; a trajectory starts in one state of nq = %zu", r->n_q,
                  b->nq);
        return false;
    }
    if (r->n_tau == 0 || r->n_tau % b->nv != 0) {
        call_blame(b->call, "tau");
        call_fail(b->call, REASON_WRONG_COUNT, "tau has %zu values; pass nv = %zu for each row, and at least one row",
                  r->n_tau, b->nv);
        return false;
    }
    t->rows = b->force_rows = r->n_tau / b->nv;
    return batch_check(b, "v", r->n_v);
}

/* Allocates the rows, and reads all forces and the first state. Returns false when the call has ended. */
static bool read_rows(batch *b, forward_task *t) {
    const Dynamics__V1__ForwardDynamicsTrajectoryRequest *r = t->request;
    t->tau = call_allocate(b->call, r->n_tau, sizeof(double));
    t->q = call_allocate(b->call, t->rows * b->nq, sizeof(double));
    t->v = call_allocate(b->call, t->rows * b->nv, sizeof(double));
    t->bristles = call_allocate(b->call, (size_t)dyn_model_bristle_count(b->model) + 1, sizeof(double));
    if (!t->tau || !t->q || !t->v || !t->bristles) {
        return false;
    }
    if (b->order.is_identity) {
        memcpy(t->tau, r->tau, r->n_tau * sizeof(double));
    } else {
        joint_order_to_model(b->order.v, b->nv, t->rows, r->tau, t->tau);
    }
    const double *v = batch_input(b, r->n_v, r->v);
    memcpy(t->q, b->q, b->nq * sizeof(double));
    if (v) {
        memcpy(t->v, v, b->nv * sizeof(double));
    }
    return !call_has_ended(b->call);
}

/* Integrates from row i to the next one. `scratch` has room for the list of external forces. */
static dyn_status move_row(const batch *b, forward_task *t, dyn_simulator *simulator, size_t i, void *scratch,
                           dyn_error *error) {
    dyn_external_forces forces;
    dyn_base_motion base;
    const dyn_step_input input =
        DYN_STEP_INPUT_INIT(.tau = t->tau + i * b->nv, .forces = batch_forces(b, i, scratch, &forces),
                            .bristles = t->bristles, .time = (double)i * t->options.step_length,
                            .base = batch_base(b, i, &base));
    double *q = t->q + i * b->nq, *v = t->v + i * b->nv;
    memcpy(q + b->nq, q, b->nq * sizeof *q);
    memcpy(v + b->nv, v, b->nv * sizeof *v);
    return dyn_simulator_step(simulator, 1, &input, q + b->nq, v + b->nv, NULL, &t->result, error);
}

/* Integrates row by row, with a check of the deadline after each. After a divergence the following rows repeat the last
 * state. Returns false when the call has ended. */
static bool move(batch *b, forward_task *t) {
    dyn_simulator *simulator = NULL;
    dyn_error error;
    dyn_status status = DYN_OK;
    void *scratch = call_allocate(b->call, 1, batch_forces_size(b));
    bool goes_on = scratch && stepping_create(b, &t->options, &t->code, &simulator);
    if (goes_on) {
        t->computed_with = stepping_computed_with(b, &t->code, simulator);
    }
    size_t i = 0;
    for (; goes_on && status == DYN_OK && t->diverged_row == 0 && i + 1 < t->rows; i++) {
        t->result = (dyn_sample_result){0};
        status = move_row(b, t, simulator, i, scratch, &error);
        t->diverged_row = t->result.status != DYN_SAMPLE_STATUS_RUNNING ? i + 1 : 0;
        if (t->result.closure_error > t->closure_error) {
            t->closure_error = t->result.closure_error;
            t->constraint = t->result.constraint;
        }
        call_yield(b->call);
        goes_on = call_may_proceed(b->call, (double)i / (double)t->rows);
    }
    dyn_simulator_free(simulator);
    for (; t->diverged_row > 0 && i + 1 < t->rows; i++) {
        memcpy(t->q + (i + 1) * b->nq, t->q + i * b->nq, b->nq * sizeof(double));
        memcpy(t->v + (i + 1) * b->nv, t->v + i * b->nv, b->nv * sizeof(double));
    }
    if (status != DYN_OK) {
        /* The library counts tau from the row of the failed step, i - 1. */
        error.site.index += error.site.has_index ? (i - 1) * b->nv : 0;
        batch_fail(b, 0, &error);
    } else if (!goes_on && !call_has_ended(b->call)) {
        call_fail_ended(b->call);
    }
    return !call_has_ended(b->call);
}

/* Converts rows of `width` values to the caller's order. Returns NULL when out of memory. */
static double *ordered(batch *b, const int *columns, size_t width, size_t rows, double *values) {
    if (b->order.is_identity) {
        return values;
    }
    double *result = call_allocate(b->call, rows * width, sizeof(double));
    if (result) {
        joint_order_to_caller(columns, width, rows, values, result);
    }
    return result;
}

static void fill_forward(batch *b, const forward_task *t, Dynamics__V1__ForwardDynamicsTrajectoryReply *reply) {
    reply->rows = t->rows;
    reply->time = call_allocate(b->call, t->rows, sizeof(double));
    for (size_t i = 0; reply->time && i < t->rows; i++) {
        reply->time[i] = (double)i * t->options.step_length;
    }
    reply->n_time = t->rows;
    reply->excesses = find_excesses(b, t->rows, reply->time, t->q, t->v, t->tau, &reply->n_excesses);
    reply->n_q = t->rows * b->nq, reply->q = ordered(b, b->order.q, b->nq, t->rows, t->q);
    reply->n_v = t->rows * b->nv, reply->v = ordered(b, b->order.v, b->nv, t->rows, t->v);
    reply->diverged_row = t->diverged_row;
    reply->computed_with = t->computed_with;
    reply->closure_error = t->closure_error;
    if (dyn_model_constraint_count(b->model) > 0) {
        reply->constraint = call_string(b->call, dyn_model_constraint(b->model, t->constraint)->name);
    }
    if (t->diverged_row > 0) {
        reply->diverged_joint = call_string(b->call, name_of(b, t->result.joint));
    }
}

void method_forward_dynamics_trajectory(call *c) {
    const Dynamics__V1__ForwardDynamicsTrajectoryRequest *r = c->request->forward_dynamics_trajectory;
    batch b;
    forward_task t = {.request = r};
    bool is_ready =
        batch_open(c, &b, r->query, QUERY_SIMULATED | QUERY_ADDED_CONSTRAINTS | QUERY_BASE_MOTION, r->n_q, r->q) &&
        check_start(&b, &t) && read_stepping(&b, &t);
    if (is_ready) {
        batch_expect(&b, t.rows * (1 + b.nq + b.nv));
        double evaluation = STEP_COST * (double)b.nv + stepping_constraint_cost(b.model);
        is_ready = batch_begin(&b, evaluation * (double)t.rows * stepping_evaluations(&t.options)) &&
                   read_tip(&b, r->tip) && read_rows(&b, &t);
    }
    Dynamics__V1__ForwardDynamicsTrajectoryReply *reply = is_ready ? create_forward_dynamics_trajectory_reply(c) : NULL;
    if (reply && move(&b, &t)) {
        fill_forward(&b, &t, reply);
    }
    batch_close(&b);
}
