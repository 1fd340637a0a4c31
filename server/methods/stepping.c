/* SPDX-License-Identifier: BSD-2-Clause */
/* From the wire's Stepping to the library's options. */
#include "methods/stepping.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The longest step, s, and the most substeps, as simulation.proto states. */
static const double SHORTEST_STEP = 1e-6, LONGEST_STEP = 1;
enum { MOST_SUBSTEPS = 10000 };

static bool check_choice(batch *b, const char *name, int value, int count) {
    if (value >= 0 && value < count) {
        return true;
    }
    call_blame(b->call, "stepping.%s", name);
    call_fail(b->call, REASON_UNKNOWN_VALUE, "%s is %d; give a number from 0 to %d", name, value, count - 1);
    return false;
}

/* Gains: none, one for all, or nv in the caller's order. */
static bool take_gains(batch *b, const char *name, size_t count, const double *values, const double **gains) {
    if (count == 0) {
        return true;
    }
    if (count != 1 && count != b->nv) {
        call_blame(b->call, "stepping.controller.%s", name);
        call_fail(b->call, REASON_WRONG_COUNT, "%s has %zu values; give nv = %zu of them, or one for all", name, count,
                  b->nv);
        return false;
    }
    double *caller = call_allocate(b->call, 2 * b->nv, sizeof(double));
    for (size_t i = 0; caller && i < b->nv; i++) {
        size_t at = count == 1 ? 0 : i;
        caller[i] = values[at];
        if (!(isfinite(caller[i]) && caller[i] >= 0)) {
            call_blame(b->call, "stepping.controller.%s[%zu]", name, at);
            call_fail(b->call, REASON_INVALID_VALUE, "%s[%zu] is %g; give a finite number that is not negative", name,
                      at, caller[i]);
            return false;
        }
    }
    if (!caller) {
        return false;
    }
    *gains = caller;
    if (!b->order.is_identity) {
        joint_order_to_model(b->order.v, b->nv, 1, caller, caller + b->nv);
        *gains = caller + b->nv;
    }
    return true;
}

static bool take_controller(batch *b, const Dynamics__V1__Controller *c, dyn_simulation_options *o) {
    static const dyn_control laws[] = {DYN_CONTROL_NONE, DYN_CONTROL_PD, DYN_CONTROL_PD_GRAVITY,
                                       DYN_CONTROL_COMPUTED_TORQUE};
    if (!c) {
        return true;
    }
    if (!check_choice(b, "controller.law", (int)c->law, 4)) {
        return false;
    }
    o->control = laws[c->law];
    return take_gains(b, "kp", c->n_kp, c->kp, &o->control_stiffness) &&
           take_gains(b, "kd", c->n_kd, c->kd, &o->control_damping);
}

static bool check_step(batch *b, const dyn_simulation_options *o, uint32_t substeps) {
    if (!(o->dt >= SHORTEST_STEP && o->dt <= LONGEST_STEP)) {
        call_blame(b->call, "stepping.step");
        call_fail(b->call, REASON_INVALID_VALUE, "the step is %g s; give %g to %g, or 0 for 0.001", o->dt,
                  SHORTEST_STEP, LONGEST_STEP);
        return false;
    }
    if (substeps > MOST_SUBSTEPS) {
        call_blame(b->call, "stepping.substeps");
        call_fail(b->call, REASON_TOO_MANY_STEPS, "%u substeps; at most %d are allowed", substeps, MOST_SUBSTEPS);
        call_tell_limit(b->call, MOST_SUBSTEPS, substeps);
        return false;
    }
    return true;
}

/* A number of the message; zero stands for the default. */
static double number_or(double value, double standard) {
    return value == 0 ? standard : value;
}

bool stepping_take(batch *b, const Dynamics__V1__Stepping *m, dyn_simulation_options *o) {
    static const dyn_integrator integrators[] = {DYN_SEMI_IMPLICIT_EULER, DYN_EXPLICIT_EULER, DYN_RUNGE_KUTTA_4};
    static const dyn_joint_stop stops[] = {DYN_STOP_RIGID, DYN_STOP_SPRING, DYN_STOP_NONE};
    dyn_simulation_defaults(o);
    o->has_gravity = b->gravity != NULL;
    for (int k = 0; b->gravity && k < 3; k++) {
        o->gravity[k] = b->gravity[k];
    }
    if (!m) {
        return true;
    }
    if (m->gravity) {
        call_blame(b->call, "stepping.gravity");
        call_fail(b->call, REASON_UNUSED_FIELD, "gravity is a part of the query; give it there");
        return false;
    }
    if (!check_choice(b, "integrator", (int)m->integrator, 3) || !check_choice(b, "stop", (int)m->stop, 3) ||
        !take_controller(b, m->controller, o)) {
        return false;
    }
    o->integrator = integrators[m->integrator];
    o->stop = stops[m->stop];
    o->dt = number_or(m->step, o->dt);
    o->substeps = m->substeps > 0 && m->substeps <= MOST_SUBSTEPS ? (int)m->substeps : 1;
    o->ignore_damping = m->ignore_damping;
    o->ignore_friction = m->ignore_friction;
    o->ignore_effort_limits = m->ignore_effort_limits;
    o->friction_velocity = number_or(m->friction_velocity, o->friction_velocity);
    o->restitution = m->restitution;
    o->stop_stiffness = number_or(m->stop_stiffness, o->stop_stiffness);
    o->stop_damping = number_or(m->stop_damping, o->stop_damping);
    o->velocity_bound = number_or(m->velocity_bound, o->velocity_bound);
    return check_step(b, o, m->substeps);
}

step_code step_code_choose(model_entry *entry, Dynamics__V1__CompiledSteps wanted) {
    step_code code = {0};
    if (wanted != DYNAMICS__V1__COMPILED_STEPS__COMPILED_STEPS_NEVER) {
        code.compiled = model_entry_compiled(entry, code.object);
    }
    code.must_be_compiled = wanted == DYNAMICS__V1__COMPILED_STEPS__COMPILED_STEPS_ALWAYS;
    return code;
}

void step_code_explain(model_entry *entry, char reason[STEP_CODE_REASON]) {
    char why[COMPILATION_REASON_SIZE];
    const char *what = "";
    switch (model_entry_compilation(entry, why)) {
    case MODEL_COMPILATION_WAITS:
        what = "it waits to be compiled, or models are not compiled ([compile] mode)";
        break;
    case MODEL_COMPILING:
        what = "it is being compiled";
        break;
    case MODEL_COMPILED:
        what = "with this gravity or payloads, or for so large a robot, they are not";
        break;
    case MODEL_NOT_COMPILED:
        what = why;
        break;
    }
    snprintf(reason, STEP_CODE_REASON, "compiled steps are asked for, but there are none of this model: %s", what);
}

bool stepping_take_code(batch *b, const Dynamics__V1__Stepping *m, step_code *code) {
    if (m && !check_choice(b, "compiled", (int)m->compiled, 3)) {
        return false;
    }
    *code = step_code_choose(b->entry, m ? m->compiled : DYNAMICS__V1__COMPILED_STEPS__COMPILED_STEPS_WHERE_READY);
    return true;
}

/* Ends the call where the simulator is not what was asked for. */
static bool check_code(batch *b, const step_code *code, const dyn_simulator *simulator) {
    char reason[STEP_CODE_REASON];
    if (!code->must_be_compiled || dyn_simulator_is_compiled(simulator)) {
        return true;
    }
    step_code_explain(b->entry, reason);
    call_blame(b->call, "stepping.compiled");
    call_fail(b->call, REASON_NOT_COMPILED, "%s", reason);
    return false;
}

bool stepping_create(batch *b, const dyn_simulation_options *options, const step_code *code,
                     dyn_simulator **simulator) {
    dyn_error error;
    dyn_status status = dyn_simulator_create(b->model, options, &error, simulator);
    if (status == DYN_RESOURCE_EXHAUSTED) {
        call_fail_memory(b->call);
    } else if (status != DYN_OK) {
        call_blame(b->call, "stepping.%s", error.place);
        call_fail_library(b->call, &error);
    }
    if (status != DYN_OK) {
        return false;
    }
    status = dyn_simulator_use_compiled(*simulator, code->compiled, &error);
    if (status == DYN_OK && b->payload_count > 0) {
        status = dyn_simulator_load(*simulator, b->payload_count, b->payloads, &error);
    }
    if (status != DYN_OK) {
        batch_fail(b, 0, &error);
    }
    if (status != DYN_OK || !check_code(b, code, *simulator)) {
        dyn_simulator_free(*simulator);
        *simulator = NULL;
        return false;
    }
    return true;
}

char *stepping_computed_with(batch *b, const step_code *code, const dyn_simulator *simulator) {
    char text[COMPUTED_WITH_SIZE];
    computed_with(dyn_simulator_is_compiled(simulator) ? code->object : "", text);
    return call_string(b->call, text);
}
