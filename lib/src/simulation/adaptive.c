/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Accurate integration of one motion, by the explicit Runge-Kutta integrator of ARKODE over y = (q, v).
 */
#include <dynamics/adaptive.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../dynamics/arguments.h"
#include "../dynamics/rigid_motion.h"
#include "../model/error.h"
#include "../model/normal_form.h"
#include "../model/sized.h"
#include "arkode.h"
#include "signal_check.h"
#include "simulator.h"

static const double default_relative = 1e-10, default_absolute = 1e-12;
/* Longest step in s with which values interpolated between two steps are as accurate as the steps. */
static const double longest_step_with_events = 0.01;

enum { DEFAULT_STEPS = 100000, DEFAULT_EVENTS = 1000, EVALUATIONS_BETWEEN_QUESTIONS = 256 };

/* State of an integration. */
typedef struct flow {
    dyn_simulator *s;
    const dyn_adaptive_motion *m;
    dyn_adaptive_result *result;
    dyn_adaptive_event *events;
    size_t capacity, interval, evaluations;
    bool is_cancelled, has_failed; /* has_failed: ARKODE could not start again after an event */
    sample_block block;            /* block of one sample */
    SUNContext context;
    N_Vector y;
    void *integrator;
} flow;

/* ---- Callbacks of ARKODE ----------------------------------------------------------------------------------------- */

/* Computes dq/dt of one joint. */
static void joint_rate(const dyn_joint *joint, const double *q, const double *v, double *rate) {
    const double *p = joint->type == DYN_JOINT_TYPE_FLOATING ? q + 3 : q;
    const double *w = joint->type == DYN_JOINT_TYPE_FLOATING ? v + 3 : v;
    double *p_rate = joint->type == DYN_JOINT_TYPE_FLOATING ? rate + 3 : rate;
    switch (joint->type) {
    case DYN_JOINT_TYPE_FLOATING:
    case DYN_JOINT_TYPE_SPHERICAL: {
        const double half[4] = {w[0] / 2, w[1] / 2, w[2] / 2, 0};
        dyn_quaternion_multiply(p, half, p_rate);
        if (joint->type == DYN_JOINT_TYPE_FLOATING) {
            double norm = sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2] + p[3] * p[3]);
            const double unit[4] = {p[0] / norm, p[1] / norm, p[2] / norm, p[3] / norm};
            dyn_quaternion_rotate(unit, v, rate);
        }
        break;
    }
    case DYN_JOINT_TYPE_PLANAR:
        rate[0] = cos(q[2]) * v[0] - sin(q[2]) * v[1];
        rate[1] = sin(q[2]) * v[0] + cos(q[2]) * v[1];
        rate[2] = v[2];
        break;
    default:
        memcpy(rate, v, (size_t)joint->nv * sizeof *v);
    }
}

/* Computes tau at the time t, clamped to the effort limits. */
static void force_at(const flow *f, double t, double *tau) {
    const dyn_adaptive_motion *m = f->m;
    size_t nv = (size_t)f->s->model->nv, i = f->interval;
    double x = m->hold == DYN_HOLD_LINEAR && i + 1 < m->n ? (t - m->time[i]) / (m->time[i + 1] - m->time[i]) : 0;
    for (size_t j = 0; j < nv; j++) {
        double from = m->tau ? m->tau[i * nv + j] : 0, to = m->tau && x != 0 ? m->tau[(i + 1) * nv + j] : from;
        double most = f->s->options.ignore_effort_limits ? INFINITY : f->s->joints.effort[j];
        tau[j] = fmax(-most, fmin(most, from + x * (to - from)));
    }
}

static bool is_cancelled(flow *f) {
    bool is_question = f->evaluations++ % EVALUATIONS_BETWEEN_QUESTIONS == 0;
    f->is_cancelled |= is_question && f->m->proceed && !f->m->proceed(f->m->context);
    return f->is_cancelled;
}

/* Computes dy/dt for ARKODE. Returns 0; a positive number to request a shorter step; a negative one to end the
 * motion. */
static int slope(sunrealtype t, N_Vector y, N_Vector rate, void *context) {
    flow *f = context;
    dyn_simulator *s = f->s;
    size_t nq = (size_t)s->model->nq, nv = (size_t)s->model->nv;
    const double *q = N_VGetArrayPointer(y), *v = q + nq;
    double *q_rate = N_VGetArrayPointer(rate), *a = q_rate + nq;
    if (is_cancelled(f)) {
        return -1;
    }
    if (!f->block.kernels->all_within(q, nq + nv, 1e150)) {
        return 1;
    }
    for (int j = 0; j < s->model->joint_count; j++) {
        const dyn_joint *joint = &s->model->joints[j];
        if (joint->nq > 0) {
            joint_rate(joint, q + joint->q_index, v + joint->v_index, q_rate + joint->q_index);
        }
    }
    force_at(f, t, s->tau);
    s->time = t;
    simulator_begin_shafts(s, f->block, 0);
    s->stages.block = f->block;
    if (s->gears.count > 0) {
        simulator_begin_gears(s, f->block, 0, s->tau, NULL);
    }
    const double *tau =
        simulator_holds_link_forces(s) ? simulator_add_link_forces(s, f->block, 0, q, v, s->tau) : s->tau;
    tau = simulator_has_base_forces(s) ? simulator_add_base_forces(s, 0, q, v, tau) : tau;
    f->block.kernels->resisted_acceleration(s->model, s->workspace->memory, &s->step, q, v, tau, s->workspace->pivots,
                                            a);
    return f->block.kernels->all_finite(a, nv) ? 0 : 1;
}

/* Loads the state y into the simulator, for corrections by impulses and projections. */
static void load_state(flow *f, const double *y) {
    dyn_simulator *s = f->s;
    memcpy(s->q, y, (size_t)s->model->nq * sizeof *y);
    memcpy(s->v, y + s->model->nq, (size_t)s->model->nv * sizeof *y);
    memset(s->results, 0, sizeof *s->results);
}

/* Stores the state of the simulator in y. */
static void store_state(const flow *f, double *y) {
    const dyn_simulator *s = f->s;
    memcpy(y, s->q, (size_t)s->model->nq * sizeof *y);
    memcpy(y + s->model->nq, s->v, (size_t)s->model->nv * sizeof *y);
}

/* Closes the loops of the state y by projection, at the time t. */
static void close_loops(flow *f, double t, double *y) {
    const simulated_step step = {.block = f->block, .results = f->s->results};
    if (f->s->loops.workspace && !f->s->options.ignore_projection) {
        load_state(f, y);
        f->s->loops.closures.time = t;
        simulator_close_positions(f->s, &step, false);
        simulator_close_velocities(f->s, &step);
        store_state(f, y);
    }
}

/* Scales the quaternions in y to norm one and closes the loops, for ARKODE after each step. Returns 0. */
static int normalize(sunrealtype t, N_Vector y, void *context) {
    flow *f = context;
    const dyn_model *model = f->s->model;
    for (int j = 0; j < model->joint_count; j++) {
        const dyn_joint *joint = &model->joints[j];
        int quaternion = dyn_joint_type_traits(joint->type)->quaternion;
        if (quaternion >= 0) {
            double *p = N_VGetArrayPointer(y) + joint->q_index + quaternion;
            double norm = sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2] + p[3] * p[3]);
            for (int k = 0; k < 4; k++) {
                p[k] /= norm;
            }
        }
    }
    close_loops(f, t, N_VGetArrayPointer(y));
    return 0;
}

/* Computes the distances of each joint with a range to its upper and its lower limit, for ARKODE: the joint hits a stop
 * where one falls through zero. Returns 0. */
static int room(sunrealtype t, N_Vector y, sunrealtype *rooms, void *context) {
    (void)t;
    const flow *f = context;
    const double *q = N_VGetArrayPointer(y);
    for (int i = 0; i < f->s->joints.range_count; i++) {
        const joint_range *range = &f->s->joints.ranges[i];
        rooms[2 * i] = range->upper - q[range->q_index];
        rooms[2 * i + 1] = q[range->q_index] - range->lower;
    }
    return 0;
}

/* ---- Events ------------------------------------------------------------------------------------------------------ */

static void note_event(flow *f, double t, const joint_range *range, double velocity) {
    if (f->events && f->result->events < f->capacity) {
        f->events[f->result->events] = (dyn_adaptive_event){t, range->joint, velocity};
    }
    f->result->events++;
}

/* Applies the impulses of the stops that were hit at the time t. Returns false where the motion ends: a joint comes to
 * rest at its limit, or there are too many events. */
static bool pass_stops(flow *f, double t, const int *struck) {
    dyn_simulator *s = f->s;
    double *y = N_VGetArrayPointer(f->y);
    size_t nq = (size_t)s->model->nq;
    int ranges = s->joints.range_count;
    for (int i = 0; i < ranges; i++) {
        const joint_range *range = &s->joints.ranges[i];
        if (struck[2 * i] || struck[2 * i + 1]) {
            y[range->q_index] = struck[2 * i] ? range->upper : range->lower;
            note_event(f, t, range, y[nq + (size_t)range->v_index]);
        }
    }
    load_state(f, y);
    s->loops.closures.time = t;
    simulator_correct(s, &(simulated_step){.block = f->block, .results = s->results});
    store_state(f, y);
    for (int i = 0; i < ranges; i++) {
        const joint_range *range = &s->joints.ranges[i];
        bool is_struck = struck[2 * i] || struck[2 * i + 1];
        if (is_struck && fabs(y[nq + (size_t)range->v_index]) <= s->options.rest_velocity) {
            f->result->end = DYN_ADAPTIVE_END_RESTS;
            f->result->joint = range->joint;
            return false;
        }
    }
    size_t most = f->m->most_events ? f->m->most_events : DEFAULT_EVENTS;
    f->result->end = f->result->events >= most ? DYN_ADAPTIVE_END_TOO_LONG : f->result->end;
    return f->result->end == DYN_ADAPTIVE_END_DONE;
}

/* ---- From row to row --------------------------------------------------------------------------------------------- */

static bool is_too_fast(const flow *f) {
    const double *v = N_VGetArrayPointer(f->y) + f->s->model->nq;
    return !f->block.kernels->all_within(v, (size_t)f->s->model->nv, f->s->options.velocity_bound);
}

/* Starts the integrator again from the state f->y, after a jump of the velocity or of the force. */
static bool restart(flow *f) {
    f->has_failed = ARKodeReset(f->integrator, f->result->time, f->y) != ARK_SUCCESS;
    return !f->has_failed;
}

/* Integrates to the time t, through all impacts before. Returns false where the motion ends before. */
static bool go_to(flow *f, double t, int *struck) {
    dyn_adaptive_result *r = f->result;
    while (r->time < t) {
        ARKodeSetStopTime(f->integrator, t);
        int outcome = ARKodeEvolve(f->integrator, t, f->y, &r->time, ARK_NORMAL);
        if (outcome < 0 || is_too_fast(f)) {
            r->end = outcome == ARK_TOO_MUCH_WORK ? DYN_ADAPTIVE_END_TOO_LONG : DYN_ADAPTIVE_END_DIVERGED;
            return false;
        }
        if (outcome == ARK_ROOT_RETURN) {
            ARKodeGetRootInfo(f->integrator, struck);
            if (!pass_stops(f, r->time, struck) || !restart(f)) {
                return false;
            }
        }
    }
    return true;
}

static void store(flow *f, size_t row, double *q, double *v) {
    const simulated_step step = {.block = f->block, .results = f->s->results};
    const double *y = N_VGetArrayPointer(f->y);
    size_t nq = (size_t)f->s->model->nq, nv = (size_t)f->s->model->nv;
    memcpy(q + row * nq, y, nq * sizeof *y);
    memcpy(v + row * nv, y + nq, nv * sizeof *y);
    if (f->s->loops.workspace) {
        load_state(f, y);
        f->s->loops.closures.time = f->result->time;
        simulator_report_closure(f->s, &step);
        if (f->s->results->closure_error > f->result->closure_error) {
            f->result->closure_error = f->s->results->closure_error;
            f->result->constraint = f->s->results->constraint;
        }
        f->result->constraints.residual = fmax(f->result->constraints.residual, simulator_take_residual(f->s, 0));
    }
}

/* Computes all rows after the first, and the statistics. Rows after the end of the motion repeat its last state. */
static void go(flow *f, double *q, double *v, int *struck) {
    bool goes_on = true;
    for (size_t i = 1; i < f->m->n; i++) {
        const dyn_base_motion *base = f->m->base;
        f->interval = i - 1;
        if (base && (i == 1 || base->stride)) {
            const dyn_base_motion one = {base->twist + f->interval * base->stride,
                                         base->acceleration + f->interval * base->stride, 0};
            simulator_move_base(f->s, f->block, &one);
        }
        if (goes_on && i > 1 && (f->m->tau || (base && base->stride))) {
            /* The slope at the row's time changes with the force and with the motion of the base. */
            goes_on = restart(f);
        }
        goes_on = goes_on && go_to(f, f->m->time[i], struck);
        store(f, i, q, v);
    }
    simulator_examine_constraints(f->s, f->block, 0, &f->result->constraints);
    long steps = 0, failures = 0, evaluations = 0;
    ARKodeGetNumSteps(f->integrator, &steps);
    ARKodeGetNumErrTestFails(f->integrator, &failures);
    ERKStepGetNumRhsEvals(f->integrator, &evaluations);
    f->result->steps = (size_t)steps, f->result->rejected = (size_t)failures;
    f->result->evaluations = (size_t)evaluations;
}

/* ---- Entry point ------------------------------------------------------------------------------------------------- */

static dyn_status check_times(const dyn_adaptive_motion *m, dyn_error *error) {
    if (m->n == 0) {
        return dyn_error_because(error, DYN_INVALID_ARGUMENT, DYN_CAUSE_MISSING, "time",
                                 "there are no times; pass at least one");
    }
    for (size_t i = 0; i < m->n; i++) {
        if (!isfinite(m->time[i]) || (i > 0 && !(m->time[i] > m->time[i - 1]))) {
            const dyn_error_site site = {.argument = "time", .has_index = true, .index = i};
            return dyn_error_at(error, DYN_INVALID_ARGUMENT, &site, "the time is %.17g; pass finite times in order",
                                m->time[i]);
        }
    }
    return DYN_OK;
}

static dyn_status check_tolerance(const char *name, double tolerance, dyn_error *error) {
    return tolerance == 0 || (isfinite(tolerance) && tolerance >= 1e-14 && tolerance <= 1)
               ? DYN_OK
               : dyn_error_set(error, DYN_INVALID_ARGUMENT, name,
                               "the tolerance %s is %g; pass a number from 1e-14 to 1, or 0 for the default", name,
                               tolerance);
}

static dyn_status check_start(const dyn_simulator *s, const dyn_adaptive_motion *m, dyn_error *error) {
    for (int i = 0; s->options.stop == DYN_JOINT_STOP_RIGID && i < s->joints.range_count; i++) {
        const joint_range *range = &s->joints.ranges[i];
        double q = m->q[range->q_index];
        if (!(q >= range->lower && q <= range->upper)) {
            const dyn_error_site site = {.argument = "q",
                                         .has_index = true,
                                         .index = (size_t)range->q_index,
                                         .has_joint = true,
                                         .joint = range->joint};
            return dyn_error_at(
                error, DYN_INVALID_ARGUMENT, &site,
                "joint %s: the value is %g, outside the joint's limits %g to %g; start inside, or without stops",
                s->model->joints[range->joint].name, q, range->lower, range->upper);
        }
    }
    return DYN_OK;
}

static dyn_status check_motion(const dyn_simulator *s, const dyn_adaptive_motion *m, dyn_error *error) {
    const signal_shape shape = {"tau", (size_t)s->model->nv, false};
    const dyn_signal tau = {m->tau, shape.width, shape.width};
    if (s->options.control != DYN_CONTROL_NONE) {
        return dyn_error_set(error, DYN_FAILED_PRECONDITION, "control",
                             "an adaptive motion has no controller; use an integrator with fixed steps");
    }
    if (s->options.solve_joints) {
        return dyn_error_set(error, DYN_FAILED_PRECONDITION, "solve_joints",
                             "the impulses of stops and friction act in steps; use an integrator with fixed steps");
    }
    if (s->contacts.workspace) {
        return dyn_error_set(error, DYN_FAILED_PRECONDITION, "model",
                             "the model has contact surfaces, which act in steps; use an integrator with fixed steps");
    }
    if (s->model->nv == 0) {
        return dyn_error_set(error, DYN_FAILED_PRECONDITION, "model", "the model has no moving joint");
    }
    if (s->bristles.count > 0) {
        return dyn_error_set(error, DYN_FAILED_PRECONDITION, "model",
                             "%d friction laws of the model have bristles, which need an integrator with fixed steps",
                             s->bristles.count);
    }
    dyn_status status = check_times(m, error);
    if (status == DYN_OK) {
        status = simulation_choice_check("hold", (int)m->hold, DYN_HOLD_LINEAR, error);
    }
    if (status == DYN_OK) {
        status = check_tolerance("relative", m->relative, error);
    }
    if (status == DYN_OK) {
        status = check_tolerance("absolute", m->absolute, error);
    }
    if (status == DYN_OK) {
        status = dyn_check_state(s->model, s->workspace, 1, NULL, m->q, m->v, error);
    }
    if (status == DYN_OK) {
        status = signal_check(s, &shape, 1, m->n, &tau, error);
    }
    if (status == DYN_OK) {
        status = simulator_check_base(s, m->n, m->base, error);
    }
    return status == DYN_OK ? check_start(s, m, error) : status;
}

/* Initializes ARKODE. Returns false if it fails, for want of memory. */
static bool prepare(flow *f) {
    const dyn_adaptive_motion *m = f->m;
    dyn_simulator *s = f->s;
    sunindextype nq = s->model->nq, nv = s->model->nv;
    bool has_events = s->options.stop == DYN_JOINT_STOP_RIGID && s->joints.range_count > 0;
    if (SUNContext_Create(SUN_COMM_NULL, &f->context) != 0 || !(f->y = N_VNew_Serial(nq + nv, f->context))) {
        return false;
    }
    double *y = N_VGetArrayPointer(f->y);
    memcpy(y, m->q, (size_t)nq * sizeof *y);
    for (sunindextype j = 0; j < nv; j++) {
        y[nq + j] = m->v ? m->v[j] : 0;
    }
    normalize(0, f->y, f);
    f->integrator = ERKStepCreate(slope, m->time[0], f->y, f->context);
    if (!f->integrator) {
        return false;
    }
    double relative = m->relative > 0 ? m->relative : default_relative;
    double absolute = m->absolute > 0 ? m->absolute : default_absolute;
    int failed = arkode_silence(f->context, f->integrator) != ARK_SUCCESS;
    failed |= ARKodeSetUserData(f->integrator, f) != ARK_SUCCESS;
    failed |= ARKodeSStolerances(f->integrator, relative, absolute) != ARK_SUCCESS;
    failed |= ERKStepSetTableNum(f->integrator, ARKODE_FEHLBERG_13_7_8) != ARK_SUCCESS;
    failed |= ARKodeSetMaxNumSteps(f->integrator, (long)(m->most_steps ? m->most_steps : DEFAULT_STEPS)) != ARK_SUCCESS;
    failed |= ARKodeSetPostprocessStepFn(f->integrator, normalize) != ARK_SUCCESS;
    if (has_events) {
        failed |= ARKodeRootInit(f->integrator, 2 * s->joints.range_count, room) != ARK_SUCCESS;
        failed |= ARKodeSetMaxStep(f->integrator, longest_step_with_events) != ARK_SUCCESS;
    }
    return !failed;
}

/* Makes ARKODE detect only distances that fall through zero. `directions` is scratch memory of 2 range_count
 * numbers. */
static void set_directions(flow *f, int *directions) {
    for (int i = 0; i < 2 * f->s->joints.range_count; i++) {
        directions[i] = -1;
    }
    ARKodeSetRootDirection(f->integrator, directions);
}

dyn_status dyn_adaptive_run(dyn_simulator *simulator, const dyn_adaptive_motion *motion, double *q, double *v,
                            dyn_adaptive_event *events, size_t capacity, dyn_adaptive_result *result,
                            dyn_error *error) {
    dyn_adaptive_motion known = DYN_ADAPTIVE_MOTION_INIT();
    dyn_status status = dyn_sized_read("motion", motion, sizeof known, &known, error);
    if (status == DYN_OK) {
        status = check_motion(simulator, &known, error);
    }
    if (status != DYN_OK) {
        return status;
    }
    *result = (dyn_adaptive_result){.time = known.time[0]};
    flow f = {.s = simulator, .m = &known, .result = result, .events = events, .capacity = capacity};
    f.block = dyn_block_of_one(simulator->workspace, 0);
    simulator_begin(simulator, f.block);
    simulator_move_base(simulator, f.block, NULL);
    int *struck = calloc(2 * (size_t)simulator->joints.range_count + 1, sizeof *struck);
    if (struck && prepare(&f)) {
        set_directions(&f, struck);
        store(&f, 0, q, v);
        go(&f, q, v, struck);
        if (f.is_cancelled) {
            status = dyn_error_set(error, DYN_CANCELLED, "", "the motion was ended by its caller");
        } else if (f.has_failed) {
            status = dyn_error_memory(error);
        }
    } else {
        status = dyn_error_memory(error);
    }
    free(struck);
    ARKodeFree(&f.integrator);
    N_VDestroy(f.y);
    SUNContext_Free(&f.context);
    return status;
}
