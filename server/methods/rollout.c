/* SPDX-License-Identifier: BSD-2-Clause */
/* Rollout: integrates the motion of many states over time. */
#include <dynamics/adaptive.h>
#include <dynamics/constrained_dynamics.h>
#include <dynamics/constraint.h>
#include <dynamics/contact.h>
#include <dynamics/rollout.h>
#include <math.h>
#include <string.h>

#include "methods/methods.h"
#include "methods/motion.h"
#include "methods/robot_values.h"
#include "methods/stepping.h"

/* Approximate cost of one coordinate in one evaluation of the forward dynamics, ns. */
static const double EVALUATION_COST = 30;
/* Approximate number of evaluations in one step with error control, and of such steps in a second of motion. */
static const double ACCURATE_EVALUATIONS = 13, ACCURATE_STEPS = 200;

/* Rollout with inputs in the model's order, and results of all samples. */
typedef struct task {
    batch *b;
    const Dynamics__V1__RolloutRequest *request;
    dyn_simulation_options options;
    step_code code;
    char *computed_with;
    dyn_rollout rollout; /* signals of all samples */
    motion m;
    size_t rows;
    bool has_q, has_v, has_tau, has_energy, has_contacts;
    double *q, *v, *tau, *kinetic, *potential;
    size_t surfaces; /* contact surfaces of the model */
    double *contact_forces, *contact_gaps, *contact_slips;
    dyn_rollout_result *results;
    Dynamics__V1__SampleStatus *ends; /* outcomes of motions with error control; NULL: fixed steps */
} task;

/* Scratch memory of one thread. The external forces follow it, then the states of motions with error control. */
typedef struct rollout_scratch {
    dyn_simulator *simulator;
    dyn_signal_force *forces;
} rollout_scratch;

/* ---- inputs ---------------------------------------------------------------------------------------------------- */

/* Returns the number of rows of an array with that layout. */
static size_t layout_rows(const batch *b, Dynamics__V1__Layout layout, size_t steps) {
    return layout == DYNAMICS__V1__LAYOUT__LAYOUT_SHARED     ? steps
           : layout == DYNAMICS__V1__LAYOUT__LAYOUT_CONSTANT ? b->n
                                                             : b->n * steps;
}

static const char *layout_words(Dynamics__V1__Layout layout) {
    return layout == DYNAMICS__V1__LAYOUT__LAYOUT_SHARED     ? "a row for each step"
           : layout == DYNAMICS__V1__LAYOUT__LAYOUT_CONSTANT ? "a row for each sample"
                                                             : "a row for each step of each sample";
}

/* Converts an array of the request to a signal in the model's order. `steps` is the number of rows of a sample that has
 * a row for each step. An empty array leaves the signal unchanged. Returns false when the call has ended. */
static bool read_signal(task *t, const char *name, size_t count, const double *values, bool of_q,
                        Dynamics__V1__Layout layout, size_t steps, dyn_signal *signal) {
    batch *b = t->b;
    size_t width = of_q ? b->nq : b->nv, rows = layout_rows(b, layout, steps);
    if (count == 0) {
        return true;
    }
    if (count != rows * width) {
        call_blame(b->call, "%s", name);
        call_fail(b->call, REASON_WRONG_COUNT, "%s has %zu values; %s (%zu samples, %zu steps) needs %zu x %zu", name,
                  count, layout_words(layout), b->n, steps, rows, width);
        return false;
    }
    signal->rows = values;
    signal->sample_stride = layout == DYNAMICS__V1__LAYOUT__LAYOUT_SHARED     ? 0
                            : layout == DYNAMICS__V1__LAYOUT__LAYOUT_CONSTANT ? width
                                                                              : steps * width;
    signal->step_stride = layout == DYNAMICS__V1__LAYOUT__LAYOUT_CONSTANT ? 0 : width;
    if (!b->order.is_identity) {
        double *ordered = call_allocate(b->call, count, sizeof(double));
        if (!ordered) {
            return false;
        }
        joint_order_to_model(of_q ? b->order.q : b->order.v, width, rows, values, ordered);
        signal->rows = ordered;
    }
    return true;
}

/* Checks the enumerations of the request. Returns false when the call has ended. */
static bool check_choices(const task *t) {
    const Dynamics__V1__RolloutRequest *r = t->request;
    refusal why = {0};
    bool is_good = value_check_choice("tau_layout", (int)r->tau_layout, 3, &why) &&
                   value_check_choice("reference_layout", (int)r->reference_layout, 3, &why) &&
                   value_check_choice("hold", (int)r->hold, 2, &why);
    if (!is_good) {
        call_refuse(t->b->call, &why);
    }
    return is_good;
}

/* Checks that the request has a reference if it has a controller, and only then. */
static bool check_reference(task *t) {
    bool has_controller = t->options.control != DYN_CONTROL_NONE, has_reference = t->request->n_q_ref > 0;
    if (has_controller != has_reference) {
        call_blame(t->b->call, "q_ref");
        call_fail(t->b->call, REASON_CONFLICTING_FIELDS,
                  has_controller ? "the controller has no reference; pass q_ref"
                                 : "there is a reference but no controller; choose one in stepping.controller");
    }
    return has_controller == has_reference;
}

static bool read_inputs(task *t) {
    const Dynamics__V1__RolloutRequest *r = t->request;
    size_t steps = t->rollout.steps, tau_steps = steps + (r->hold == DYNAMICS__V1__HOLD__HOLD_LINEAR);
    t->rollout.hold = r->hold == DYNAMICS__V1__HOLD__HOLD_LINEAR ? DYN_HOLD_LINEAR : DYN_HOLD_ZERO_ORDER;
    return check_reference(t) &&
           read_signal(t, "tau", r->n_tau, r->tau, false, r->tau_layout, tau_steps, &t->rollout.tau) &&
           read_signal(t, "q_ref", r->n_q_ref, r->q_ref, true, r->reference_layout, steps, &t->rollout.q_ref) &&
           read_signal(t, "v_ref", r->n_v_ref, r->v_ref, false, r->reference_layout, steps, &t->rollout.v_ref) &&
           read_signal(t, "a_ref", r->n_a_ref, r->a_ref, false, r->reference_layout, steps, &t->rollout.a_ref);
}

/* Reads the choice of results; by default q and v. Returns false when the call has ended. */
static bool read_results(task *t) {
    const Dynamics__V1__RolloutRequest *r = t->request;
    t->has_q = t->has_v = r->n_results == 0;
    for (size_t i = 0; i < r->n_results; i++) {
        switch (r->results[i]) {
        case DYNAMICS__V1__ROLLOUT_RESULT__ROLLOUT_RESULT_Q:
            t->has_q = true;
            break;
        case DYNAMICS__V1__ROLLOUT_RESULT__ROLLOUT_RESULT_V:
            t->has_v = true;
            break;
        case DYNAMICS__V1__ROLLOUT_RESULT__ROLLOUT_RESULT_TAU:
            t->has_tau = true;
            break;
        case DYNAMICS__V1__ROLLOUT_RESULT__ROLLOUT_RESULT_ENERGY:
            t->has_energy = true;
            break;
        case DYNAMICS__V1__ROLLOUT_RESULT__ROLLOUT_RESULT_CONTACTS:
            t->has_contacts = true;
            break;
        default:
            call_blame(t->b->call, "results[%zu]", i);
            call_fail(t->b->call, REASON_UNKNOWN_VALUE,
                      "there is no result %d; pass Q (1), V (2), TAU (3), ENERGY (4) or CONTACTS (60)",
                      (int)r->results[i]);
            return false;
        }
    }
    return true;
}

/* Reads the numbers of steps and rows, checks their bounds, and announces the size of the results. Returns false when
 * the call has ended. */
static bool read_length(task *t) {
    const Dynamics__V1__RolloutRequest *r = t->request;
    batch *b = t->b;
    size_t width = t->has_q * b->nq + (size_t)(t->has_v + t->has_tau) * b->nv + 2 * (size_t)t->has_energy +
                   5 * t->surfaces * t->has_contacts;
    call_blame(b->call, "steps");
    if (r->steps == 0) {
        call_fail(b->call, REASON_MISSING_VALUE, "steps is 0; take at least 1");
        return false;
    }
    if (r->steps > MOST_SAMPLE_STEPS / b->n) {
        call_fail(b->call, REASON_TOO_MANY_STEPS,
                  "%llu steps of %zu samples; at most %llu steps of all samples together are allowed: go on from the "
                  "last state in another request",
                  (unsigned long long)r->steps, b->n, (unsigned long long)MOST_SAMPLE_STEPS);
        call_set_limit(b->call, BOUND_SAMPLE_STEPS, MOST_SAMPLE_STEPS,
                       (uint64_t)fmin((double)r->steps * (double)b->n, 0x1p63));
        return false;
    }
    t->rollout = (dyn_rollout)DYN_ROLLOUT_INIT(.steps = r->steps);
    if (r->only_last && r->stride > 0) {
        call_blame(b->call, "stride");
        call_fail(b->call, REASON_UNUSED_FIELD, "only_last asks for one row; leave stride out");
        return false;
    }
    uint64_t stride = r->stride > 0 ? r->stride : 1;
    t->rollout.stride = r->only_last ? 0 : stride <= r->steps ? stride : r->steps + 1;
    t->rows = dyn_rollout_rows(&t->rollout);
    b->base_steps = r->steps;
    batch_expect(b, t->rows * width + 16);
    return true;
}

/* Returns the number of doubles for the times, forces and states of one motion with error control. */
static size_t state_values(const task *t) {
    return (t->rollout.steps + 1) * (1 + t->b->nq + 2 * t->b->nv);
}

/* Refuses options that motions with error control do not support, and motions of too many steps. Returns false when the
 * call has ended. */
static bool check_accuracy(task *t) {
    const Dynamics__V1__RolloutRequest *r = t->request;
    const char *reason = !r->accuracy                             ? NULL
                         : t->options.control != DYN_CONTROL_NONE ? "a controller acts in steps"
                         : r->query->n_external_forces > 0        ? "external forces are not part of it"
                         : t->has_tau                             ? "forces are those of the request"
                         : t->surfaces > 0                        ? "contacts act in steps"
                                                                  : NULL;
    if (reason) {
        call_blame(t->b->call, "accuracy");
        call_fail(t->b->call, REASON_CONFLICTING_FIELDS,
                  "an accurate motion was asked for, but %s; leave one of the two out", reason);
        return false;
    }
    double bytes = r->accuracy ? (double)state_values(t) * sizeof(double) : 0;
    uint64_t limit = atomic_load(&t->b->call->service->limits->reply_bytes);
    if (bytes > (double)limit) {
        call_blame(t->b->call, "steps");
        call_fail(
            t->b->call, REASON_REPLY_TOO_LARGE,
            "an accurate motion of so many steps has %.0f bytes; the limit is %llu (limits.reply_bytes): take longer "
            "steps, which do not make it less accurate",
            bytes, (unsigned long long)limit);
        call_set_limit(t->b->call, BOUND_REPLY_BYTES, limit, (uint64_t)fmin(bytes, 0x1p63));
        return false;
    }
    return true;
}

/* Returns the estimated cost of one sample, ns. */
static double cost(const task *t) {
    double per_evaluation = EVALUATION_COST * (double)t->b->nv + stepping_constraint_cost(t->b->model);
    double steps = (double)t->rollout.steps;
    if (t->request->accuracy) {
        return per_evaluation * ACCURATE_EVALUATIONS * (ACCURATE_STEPS * t->options.step_length * steps + steps);
    }
    return per_evaluation * stepping_evaluations(&t->options) * steps;
}

/* ---- the work of a thread -------------------------------------------------------------------------------------- */

static bool proceed(void *context, size_t sample_steps) {
    return batch_proceed(context, sample_steps);
}

static bool proceed_accurately(void *context) {
    return batch_proceed(context, 0);
}

/* Returns the signal for the samples from `first` on. */
static dyn_signal shifted(const dyn_signal *signal, size_t first) {
    dyn_signal s = *signal;
    s.rows = s.rows ? s.rows + first * s.sample_stride : NULL;
    return s;
}

/* Returns the rows of results from sample `first` on, or NULL if `rows` is NULL. */
static double *result_rows(const task *t, double *rows, size_t width, size_t first) {
    return rows ? rows + first * t->rows * width : NULL;
}

static void slice_forces(const task *t, size_t first, rollout_scratch *scratch, dyn_rollout *rollout) {
    for (size_t i = 0; i < t->b->force_count; i++) {
        const dyn_external_force *f = &t->b->forces[i];
        scratch->forces[i] =
            (dyn_signal_force){f->frame, f->reference_frame, {f->wrench + first * f->stride, f->stride, 0}};
    }
    rollout->forces = scratch->forces;
    rollout->force_count = t->b->force_count;
}

/* Returns the motion of the base from sample `first` on. */
static dyn_signal base_signal(const batch *b, size_t first) {
    dyn_base_motion base = {0};
    batch_base(b, first, &base);
    return (dyn_signal){base.twist, base.stride, b->base_step_stride};
}

/* Integrates a block of samples with fixed steps. */
static dyn_status roll_out(const task *t, rollout_scratch *scratch, size_t first, size_t count, dyn_error *error) {
    const batch *b = t->b;
    dyn_rollout r = t->rollout;
    r.q = b->q + first * b->nq;
    r.v = motion_rows(t->m.v, b->nv, first);
    r.tau = shifted(&r.tau, first);
    r.q_ref = shifted(&r.q_ref, first), r.v_ref = shifted(&r.v_ref, first), r.a_ref = shifted(&r.a_ref, first);
    r.base = base_signal(b, first);
    slice_forces(t, first, scratch, &r);
    r.proceed = proceed;
    r.context = t->b;
    const dyn_rollout_output output =
        DYN_ROLLOUT_OUTPUT_INIT(.q = result_rows(t, t->q, b->nq, first), .v = result_rows(t, t->v, b->nv, first),
                                .tau = result_rows(t, t->tau, b->nv, first),
                                .kinetic = result_rows(t, t->kinetic, 1, first),
                                .potential = result_rows(t, t->potential, 1, first), .results = t->results + first,
                                .contact_forces = result_rows(t, t->contact_forces, 3 * t->surfaces, first),
                                .contact_gaps = result_rows(t, t->contact_gaps, t->surfaces, first),
                                .contact_slips = result_rows(t, t->contact_slips, t->surfaces, first));
    return dyn_rollout_run(scratch->simulator, count, &r, &output, error);
}

/* Copies the rows of one sample in the reply from its states at all steps. Does nothing if `out` is NULL. */
static void store_rows(const task *t, size_t sample, const double *states, size_t width, double *out) {
    for (size_t row = 0; out && row < t->rows; row++) {
        size_t step = t->rollout.stride ? row * t->rollout.stride : t->rollout.steps;
        memcpy(out + (sample * t->rows + row) * width, states + step * width, width * sizeof(double));
    }
}

static dyn_status store_energies(const task *t, dyn_simulator *s, size_t sample, const double *q, const double *v,
                                 dyn_error *error) {
    const batch *b = t->b;
    double start = 0;
    for (size_t step = 0, row = 0; t->has_energy && step <= t->rollout.steps; step++) {
        double kinetic, potential;
        bool is_row = t->rollout.stride ? step % t->rollout.stride == 0 : step == t->rollout.steps;
        if (!is_row && step > 0) {
            continue;
        }
        dyn_status status = dyn_energy(dyn_simulator_model(s), dyn_simulator_workspace(s), 1, dyn_simulator_gravity(s),
                                       q + step * b->nq, v + step * b->nv, &kinetic, &potential, error);
        if (status != DYN_OK) {
            return status;
        }
        start = step == 0 ? kinetic + potential : start;
        dyn_rollout_result *result = &t->results[sample];
        result->energy_drift = fmax(result->energy_drift, fabs(kinetic + potential - start));
        if (is_row) {
            t->kinetic[sample * t->rows + row] = kinetic;
            t->potential[sample * t->rows + row] = potential;
            row++;
        }
    }
    return DYN_OK;
}

static Dynamics__V1__SampleStatus accurate_status(dyn_adaptive_end end) {
    switch (end) {
    case DYN_ADAPTIVE_END_DONE:
        break;
    case DYN_ADAPTIVE_END_RESTS:
        return DYNAMICS__V1__SAMPLE_STATUS__SAMPLE_STATUS_RESTS;
    case DYN_ADAPTIVE_END_DIVERGED:
        return DYNAMICS__V1__SAMPLE_STATUS__SAMPLE_STATUS_TOO_FAST;
    case DYN_ADAPTIVE_END_TOO_LONG:
        return DYNAMICS__V1__SAMPLE_STATUS__SAMPLE_STATUS_TOO_LONG;
    }
    return DYNAMICS__V1__SAMPLE_STATUS__SAMPLE_STATUS_RAN;
}

/* Integrates one sample with error control. `states` has room for times, forces, q and v at all steps. */
static dyn_status move_accurately(const task *t, dyn_simulator *s, size_t sample, double *states, dyn_error *error) {
    const batch *b = t->b;
    size_t n = t->rollout.steps + 1;
    double *time = states, *tau = time + n, *q = tau + n * b->nv, *v = q + n * b->nq;
    dyn_signal signal = shifted(&t->rollout.tau, sample);
    for (size_t k = 0; k < n; k++) {
        size_t row = k < t->rollout.steps || t->rollout.hold == DYN_HOLD_LINEAR ? k : k - 1;
        time[k] = (double)k * t->options.step_length;
        if (signal.rows) {
            memcpy(tau + k * b->nv, signal.rows + row * signal.step_stride, b->nv * sizeof(double));
        }
    }
    dyn_adaptive_motion accurate =
        DYN_ADAPTIVE_MOTION_INIT(.n = n, .time = time, .q = b->q + sample * b->nq,
                                 .v = motion_rows(t->m.v, b->nv, sample), .tau = signal.rows ? tau : NULL,
                                 .hold = t->rollout.hold, .relative = t->request->accuracy->relative,
                                 .absolute = t->request->accuracy->absolute, .proceed = proceed_accurately,
                                 .context = t->b);
    dyn_base_motion base = {0};
    if (batch_base(b, sample, &base)) {
        base.stride = b->base_step_stride;
        accurate.base = &base;
    }
    dyn_adaptive_result result;
    dyn_status status = dyn_adaptive_run(s, &accurate, q, v, NULL, 0, &result, error);
    if (status != DYN_OK) {
        return status;
    }
    store_rows(t, sample, q, b->nq, t->q);
    store_rows(t, sample, v, b->nv, t->v);
    t->ends[sample] = accurate_status(result.end);
    t->results[sample].joint = result.joint;
    t->results[sample].hits = result.events;
    t->results[sample].constraint = result.constraint;
    t->results[sample].closure_error = result.closure_error;
    t->results[sample].constraints = result.constraints;
    t->results[sample].steps = (size_t)floor(result.time / t->options.step_length + 1e-6);
    batch_proceed(t->b, t->rollout.steps);
    return store_energies(t, s, sample, q, v, error);
}

static dyn_status step(const batch *b, const batch_worker *w, const void *context, size_t first, size_t count,
                       dyn_error *error) {
    const task *t = context;
    rollout_scratch *scratch = w->scratch;
    dyn_status status = DYN_OK;
    if (!scratch->simulator) {
        status = dyn_simulator_create(b->model, &t->options, &scratch->simulator, error);
        scratch->forces = (dyn_signal_force *)(scratch + 1);
        if (status == DYN_OK) {
            status = dyn_simulator_use_compiled(scratch->simulator, t->code.compiled, error);
        }
        if (status == DYN_OK && b->values.payload_count > 0) {
            status = dyn_simulator_load(scratch->simulator, b->values.payload_count, b->values.payloads, error);
        }
    }
    if (status != DYN_OK || !t->request->accuracy) {
        return status == DYN_OK ? roll_out(t, scratch, first, count, error) : status;
    }
    double *states = (double *)(scratch->forces + t->b->force_count);
    for (size_t i = first; status == DYN_OK && i < first + count; i++) {
        status = move_accurately(t, scratch->simulator, i, states, error);
    }
    return status;
}

/* ---- the reply ------------------------------------------------------------------------------------------------- */

static const Dynamics__V1__SampleStatus statuses[] = {
    [DYN_SAMPLE_STATUS_RUNNING] = DYNAMICS__V1__SAMPLE_STATUS__SAMPLE_STATUS_RAN,
    [DYN_SAMPLE_STATUS_NOT_FINITE] = DYNAMICS__V1__SAMPLE_STATUS__SAMPLE_STATUS_NOT_FINITE,
    [DYN_SAMPLE_STATUS_TOO_FAST] = DYNAMICS__V1__SAMPLE_STATUS__SAMPLE_STATUS_TOO_FAST,
    [DYN_SAMPLE_STATUS_SINGULAR] = DYNAMICS__V1__SAMPLE_STATUS__SAMPLE_STATUS_SINGULAR,
};

static void fill_outcomes(const task *t, Dynamics__V1__RolloutReply *reply) {
    const batch *b = t->b;
    Dynamics__V1__SampleOutcome *outcomes = call_allocate(b->call, b->n, sizeof *outcomes);
    reply->outcomes = call_allocate(b->call, b->n, sizeof *reply->outcomes);
    if (!outcomes || !reply->outcomes) {
        return;
    }
    for (size_t i = 0; i < b->n; i++) {
        const dyn_rollout_result *r = &t->results[i];
        dynamics__v1__sample_outcome__init(&outcomes[i]);
        outcomes[i].status = t->ends ? t->ends[i] : statuses[r->status];
        outcomes[i].steps = r->steps;
        outcomes[i].stops = r->hits;
        outcomes[i].energy_drift = r->energy_drift;
        outcomes[i].closure_error = r->closure_error;
        outcomes[i].contact_sweeps = (uint32_t)r->contact_sweeps;
        outcomes[i].contact_residual = r->contact_residual;
        outcomes[i].constraint_rank = (uint32_t)r->constraints.rank;
        outcomes[i].constraint_residual = r->constraints.residual;
        outcomes[i].constraint_condition = r->constraints.condition;
        /* Copies the names, since the model is released before the reply is packed. Motions with error control report a
         * joint only if they end at rest. */
        if (dyn_model_constraint_count(b->model) > 0) {
            outcomes[i].constraint = call_string(b->call, dyn_model_constraint(b->model, r->constraint)->name);
        }
        if (t->ends ? t->ends[i] == DYNAMICS__V1__SAMPLE_STATUS__SAMPLE_STATUS_RESTS
                    : r->status != DYN_SAMPLE_STATUS_RUNNING) {
            outcomes[i].joint = call_string(b->call, dyn_model_joint(b->model, r->joint)->name);
        }
        reply->outcomes[i] = &outcomes[i];
    }
    reply->n_outcomes = b->n;
}

/* Converts all rows of q, or of v or tau, to the caller's order. Returns NULL when out of memory. */
static double *ordered(const task *t, bool of_q, double *values) {
    batch *b = t->b;
    size_t width = of_q ? b->nq : b->nv, rows = b->n * t->rows;
    if (!values || b->order.is_identity) {
        return values;
    }
    double *result = call_allocate(b->call, rows * width, sizeof(double));
    if (result) {
        joint_order_to_caller(of_q ? b->order.q : b->order.v, width, rows, values, result);
    }
    return result;
}

static void fill_reply(const task *t, Dynamics__V1__RolloutReply *reply) {
    const batch *b = t->b;
    size_t rows = b->n * t->rows;
    reply->samples = b->n;
    reply->rows = t->rows;
    if (dyn_model_constraint_rows(b->model) > 0) {
        reply->constraint_method =
            (Dynamics__V1__ConstraintMethod)dyn_constraint_method_for(b->model, DYN_CONSTRAINT_METHOD_AUTO);
    }
    reply->computed_with = t->computed_with;
    reply->time = call_allocate(b->call, t->rows, sizeof(double));
    for (size_t i = 0; reply->time && i < t->rows; i++) {
        reply->time[i] =
            (double)(t->rollout.stride ? i * t->rollout.stride : t->rollout.steps) * t->options.step_length;
    }
    reply->n_time = t->rows;
    reply->q = ordered(t, true, t->q), reply->n_q = t->q ? rows * b->nq : 0;
    reply->v = ordered(t, false, t->v), reply->n_v = t->v ? rows * b->nv : 0;
    reply->tau = ordered(t, false, t->tau), reply->n_tau = t->tau ? rows * b->nv : 0;
    reply->kinetic_energy = t->kinetic, reply->n_kinetic_energy = t->kinetic ? rows : 0;
    reply->potential_energy = t->potential, reply->n_potential_energy = t->potential ? rows : 0;
    size_t contacts = t->has_contacts ? rows * t->surfaces : 0;
    reply->contact_forces = t->contact_forces, reply->n_contact_forces = 3 * contacts;
    reply->contact_gaps = t->contact_gaps, reply->n_contact_gaps = contacts;
    reply->contact_slips = t->contact_slips, reply->n_contact_slips = contacts;
    fill_outcomes(t, reply);
}

/* ---- the method ------------------------------------------------------------------------------------------------ */

static bool allocate_results(task *t) {
    batch *b = t->b;
    size_t rows = b->n * t->rows;
    t->q = t->has_q ? call_allocate(b->call, rows * b->nq, sizeof(double)) : NULL;
    t->v = t->has_v ? call_allocate(b->call, rows * b->nv, sizeof(double)) : NULL;
    t->tau = t->has_tau ? call_allocate(b->call, rows * b->nv, sizeof(double)) : NULL;
    size_t contacts = rows * t->surfaces;
    t->contact_forces = t->has_contacts ? call_allocate(b->call, 3 * contacts, sizeof(double)) : NULL;
    t->contact_gaps = t->has_contacts ? call_allocate(b->call, contacts, sizeof(double)) : NULL;
    t->contact_slips = t->has_contacts ? call_allocate(b->call, contacts, sizeof(double)) : NULL;
    t->kinetic = t->has_energy ? call_allocate(b->call, rows, sizeof(double)) : NULL;
    t->potential = t->has_energy ? call_allocate(b->call, rows, sizeof(double)) : NULL;
    t->results = call_allocate(b->call, b->n, sizeof *t->results);
    t->ends = t->request->accuracy ? call_allocate(b->call, b->n, sizeof *t->ends) : NULL;
    return !call_has_ended(b->call);
}

/* Checks the inputs of all samples before the first step, so that the error reports the first wrong place of the
 * request. Returns false when the call has ended. */
static bool check_inputs(task *t) {
    batch *b = t->b;
    dyn_simulator *simulator = NULL;
    dyn_error error;
    if (!stepping_create(b, &t->options, &t->code, &simulator)) {
        return false;
    }
    dyn_rollout r = t->rollout;
    r.q = b->q;
    r.v = t->m.v;
    dyn_status status = dyn_rollout_check(simulator, b->n, &r, &error);
    t->computed_with = stepping_computed_with(b, &t->code, simulator);
    dyn_simulator_free(simulator);
    if (status != DYN_OK) {
        batch_fail(b, 0, &error);
    }
    return status == DYN_OK;
}

static size_t scratch_size(const task *t) {
    size_t states = t->request->accuracy ? state_values(t) : 0;
    return sizeof(rollout_scratch) + t->b->force_count * sizeof(dyn_signal_force) + states * sizeof(double);
}

static void free_simulators(const batch *b) {
    for (unsigned i = 0; i < b->worker_count; i++) {
        const rollout_scratch *scratch = b->workers[i].scratch;
        dyn_simulator_free(scratch ? scratch->simulator : NULL);
    }
}

static bool prepare(task *t) {
    const Dynamics__V1__RolloutRequest *r = t->request;
    batch *b = t->b;
    t->surfaces = (size_t)dyn_model_contact_surface_count(b->model);
    bool is_ready = check_choices(t) && batch_check(b, "v", r->n_v) && read_results(t) && read_length(t) &&
                    stepping_read_batch(b, r->stepping, &t->options) && check_accuracy(t) && batch_begin(b, cost(t)) &&
                    read_inputs(t);
    if (is_ready) {
        t->code = stepping_code(b, r->stepping);
        t->m.v = batch_input(b, r->n_v, r->v);
        b->block_size = (size_t)dyn_lanes(DYN_PRECISION_DOUBLE);
        b->parts = t->rollout.steps;
    }
    return is_ready && !call_has_ended(b->call) && check_inputs(t) && allocate_results(t);
}

void method_rollout(call *c) {
    const Dynamics__V1__RolloutRequest *r = c->request->rollout;
    batch b;
    task t = {.b = &b, .request = r};
    bool is_ready =
        batch_open(c, &b, r->query, QUERY_SIMULATED | QUERY_ADDED_CONSTRAINTS | QUERY_BASE_MOTION, r->n_q, r->q) &&
        prepare(&t);
    Dynamics__V1__RolloutReply *reply = is_ready ? create_rollout_reply(c) : NULL;
    if (reply && batch_run(&b, step, &t, scratch_size(&t))) {
        fill_reply(&t, reply);
    }
    free_simulators(&b);
    batch_close(&b);
}
