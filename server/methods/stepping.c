/* SPDX-License-Identifier: BSD-2-Clause */
/* Converts the protocol's Stepping to the library's options, and chooses the code that computes the steps. */
#include "methods/stepping.h"

#include <stdio.h>
#include <string.h>

#include <dynamics/constraint.h>
#include <dynamics/contact.h>

#include "methods/bounds.h"

enum { MOST_SWEEPS = 10000 };

static const double MOST_SPRING = 1e12, MOST_STABILIZATION = 1e6;

static const value_range STEP = {"stepping.step_length", 1e-3, 1e-6, 1},
                         FRICTION_VELOCITY = {"stepping.friction_velocity", 0.01, 1e-9, 1e3},
                         VELOCITY_BOUND = {"stepping.velocity_bound", 1e6, 1e-6, 1e12};

static bool read_spring_value(const char *field, double value, double *to, refusal *why) {
    *to = value;
    return (value >= 0 && value <= MOST_SPRING) ||
           refuse(why, REASON_INVALID_VALUE, field, "%s is %g; set 0 to %g", field, value, MOST_SPRING);
}

/* Reads the spring and damper of stops. Zeros are values, not defaults. Writes an absent spring with the defaults into
 * the message, so that a stored simulation does not depend on later defaults. */
static bool read_spring(Dynamics__V1__Stepping *m, arena *memory, dyn_simulation_options *options, refusal *why) {
    bool has_springs = m->stop == DYNAMICS__V1__JOINT_STOP__JOINT_STOP_SPRING;
    if (m->spring_stop && !has_springs) {
        return refuse(why, REASON_UNUSED_FIELD, "stepping.spring_stop",
                      "stepping.stop is not JOINT_STOP_SPRING; choose it, or leave spring_stop out");
    }
    if (m->spring_stop) {
        return read_spring_value("stepping.spring_stop.stiffness", m->spring_stop->stiffness, &options->stop_stiffness,
                                 why) &&
               read_spring_value("stepping.spring_stop.damping", m->spring_stop->damping, &options->stop_damping, why);
    }
    m->spring_stop = has_springs ? arena_allocate(memory, sizeof *m->spring_stop) : NULL;
    if (m->spring_stop) {
        dynamics__v1__spring_stop__init(m->spring_stop);
        m->spring_stop->stiffness = options->stop_stiffness;
        m->spring_stop->damping = options->stop_damping;
    }
    return !has_springs || m->spring_stop || refuse_memory(why);
}

/* Reads the treatment of closed loops. Zeros are values, not defaults. An absent one is set to the defaults in the
 * message, as for springs. */
static bool read_loop_closure(const robot *r, Dynamics__V1__Stepping *m, arena *memory, dyn_simulation_options *options,
                              refusal *why) {
    static const char field[] = "stepping.loop_closure.stabilization";
    bool has_loops = dyn_model_constraint_count(r->model) > 0;
    if (m->loop_closure && !has_loops) {
        return refuse(why, REASON_UNUSED_FIELD, "stepping.loop_closure",
                      "model \"%s\" has no constraints; leave loop_closure out", r->entry->name);
    }
    if (m->loop_closure) {
        double k = options->constraint_stabilization = m->loop_closure->stabilization;
        options->ignore_projection = !m->loop_closure->projection;
        return (k >= 0 && k <= MOST_STABILIZATION) ||
               refuse(why, REASON_INVALID_VALUE, field, "%s is %g; set 0 to %g", field, k, MOST_STABILIZATION);
    }
    m->loop_closure = has_loops ? arena_allocate(memory, sizeof *m->loop_closure) : NULL;
    if (m->loop_closure) {
        dynamics__v1__loop_closure__init(m->loop_closure);
        m->loop_closure->stabilization = options->constraint_stabilization;
        m->loop_closure->projection = !options->ignore_projection;
    }
    return !has_loops || m->loop_closure || refuse_memory(why);
}

static bool read_controller(const robot *r, const Dynamics__V1__Controller *c, arena *memory,
                            dyn_simulation_options *options, refusal *why) {
    static const dyn_control laws[] = {DYN_CONTROL_NONE, DYN_CONTROL_PD, DYN_CONTROL_PD_GRAVITY,
                                       DYN_CONTROL_COMPUTED_TORQUE};
    if (!c) {
        return true;
    }
    if (!value_check_choice("stepping.controller.law", (int)c->law, 4, why)) {
        return false;
    }
    options->control = laws[c->law];
    return robot_read_gains(r, "stepping.controller.kp", c->n_kp, c->kp, memory, &options->control_stiffness, why) &&
           robot_read_gains(r, "stepping.controller.kd", c->n_kd, c->kd, memory, &options->control_damping, why);
}

bool stepping_read(const robot *r, const double *gravity, Dynamics__V1__Stepping *m, arena *memory,
                   dyn_simulation_options *options, refusal *why) {
    static const dyn_integrator integrators[] = {DYN_INTEGRATOR_SEMI_IMPLICIT_EULER, DYN_INTEGRATOR_EXPLICIT_EULER,
                                                 DYN_INTEGRATOR_RUNGE_KUTTA_4};
    static const dyn_contact_law laws[] = {DYN_CONTACT_LAW_OF_SURFACES, DYN_CONTACT_LAW_RIGID, DYN_CONTACT_LAW_SOFT};
    static const dyn_joint_stop stops[] = {DYN_JOINT_STOP_RIGID, DYN_JOINT_STOP_SPRING, DYN_JOINT_STOP_NONE};
    *options = (dyn_simulation_options)DYN_SIMULATION_OPTIONS_INIT();
    options->has_gravity = gravity != NULL;
    for (int k = 0; gravity && k < 3; k++) {
        options->gravity[k] = gravity[k];
    }
    m->substeps = m->substeps == 0 ? 1 : m->substeps;
    bool is_good =
        value_check_choice("stepping.integrator", (int)m->integrator, 3, why) &&
        value_check_choice("stepping.stop", (int)m->stop, 3, why) &&
        value_check_choice("stepping.contact_law", (int)m->contact_law, 3, why) &&
        value_check_choice("stepping.compiled", (int)m->compiled, 3, why) && value_fill(&STEP, &m->step_length, why) &&
        value_fill(&FRICTION_VELOCITY, &m->friction_velocity, why) &&
        value_fill(&VELOCITY_BOUND, &m->velocity_bound, why) && read_spring(m, memory, options, why) &&
        read_loop_closure(r, m, memory, options, why) && read_controller(r, m->controller, memory, options, why);
    if (!is_good) {
        return false;
    }
    if (m->substeps > MOST_SUBSTEPS) {
        return refuse_limit(why, REASON_TOO_MANY_STEPS, (excess){BOUND_SUBSTEPS, MOST_SUBSTEPS, m->substeps},
                            "stepping.substeps", "substeps is %u; at most %d are allowed", m->substeps, MOST_SUBSTEPS);
    }
    if (!(m->restitution >= 0 && m->restitution <= 1)) {
        return refuse(why, REASON_INVALID_VALUE, "stepping.restitution", "restitution is %g; set 0 to 1",
                      m->restitution);
    }
    if (m->contact_sweeps > MOST_SWEEPS) {
        return refuse(why, REASON_INVALID_VALUE, "stepping.contact_sweeps",
                      "contact_sweeps is %u; set 1 to %d, or 0 for 100", m->contact_sweeps, MOST_SWEEPS);
    }
    m->contact_sweeps = m->contact_sweeps == 0 ? (uint32_t)options->contact_sweeps : m->contact_sweeps;
    options->contact_sweeps = (int)m->contact_sweeps;
    options->integrator = integrators[m->integrator];
    options->step_length = m->step_length;
    options->substeps = (int)m->substeps;
    options->ignore_damping = m->ignore_damping;
    options->ignore_friction = m->ignore_friction;
    options->ignore_springs = m->ignore_springs;
    options->ignore_gear_losses = m->ignore_gear_losses;
    options->solve_joints = m->solve_joints;
    options->contact_law = laws[m->contact_law];
    options->brake_count = m->n_brakes;
    options->brakes = (const char *const *)m->brakes;
    options->ignore_effort_limits = m->ignore_effort_limits;
    options->friction_velocity = m->friction_velocity;
    options->stop = stops[m->stop];
    options->restitution = m->restitution;
    options->velocity_bound = m->velocity_bound;
    return true;
}

bool stepping_read_batch(batch *b, const Dynamics__V1__Stepping *m, dyn_simulation_options *options) {
    Dynamics__V1__Stepping filled = DYNAMICS__V1__STEPPING__INIT;
    const robot r = batch_robot(b);
    refusal why = {0};
    if (m) {
        filled = *m;
    }
    bool is_good = stepping_read(&r, b->values.gravity, &filled, &b->call->memory, options, &why);
    options->base_may_move = b->query->base_motion != NULL;
    if (!is_good) {
        call_refuse(b->call, &why);
    }
    return is_good;
}

double stepping_evaluations(const dyn_simulation_options *options) {
    int evaluations = options->integrator == DYN_INTEGRATOR_RUNGE_KUTTA_4 ? 4 : 1;
    return evaluations * options->substeps + (options->control != DYN_CONTROL_NONE);
}

double stepping_constraint_cost(const dyn_model *model) {
    double nv = dyn_model_nv(model), m = dyn_model_constraint_rows(model);
    double surfaces = dyn_model_contact_surface_count(model);
    return (40 + m) * m * nv + m * m * m + surfaces * (6000 + 100 * nv);
}

const char *stepping_error_path(const dyn_error *error, char path[ERROR_PATH_SIZE]) {
    static const struct {
        const char *option, *field;
    } renamed[] = {{"control", "controller.law"},
                   {"control_stiffness", "controller.kp"},
                   {"control_damping", "controller.kd"},
                   {"constraint_stabilization", "loop_closure.stabilization"},
                   {"stop_stiffness", "spring_stop.stiffness"},
                   {"stop_damping", "spring_stop.damping"}};
    char field[64];
    const char *argument = error->site.argument;
    const char *of_query = argument ? query_field(argument) : NULL;
    path[0] = '\0';
    if (!argument || of_query) {
        return of_query ? error_path(&error->site, of_query, path) : path;
    }
    const char *name = argument;
    for (size_t i = 0; i < sizeof renamed / sizeof *renamed; i++) {
        name = strcmp(argument, renamed[i].option) == 0 ? renamed[i].field : name;
    }
    snprintf(field, sizeof field, "stepping.%s", name);
    return error_path(&error->site, field, path);
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

step_code stepping_code(const batch *b, const Dynamics__V1__Stepping *m) {
    return step_code_choose(b->entry, m ? m->compiled : DYNAMICS__V1__COMPILED_STEPS__COMPILED_STEPS_WHERE_READY);
}

/* Returns whether the simulator has compiled code if that is required. Otherwise ends the call. */
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
    char path[ERROR_PATH_SIZE];
    dyn_status status = dyn_simulator_create(b->model, options, simulator, &error);
    if (status == DYN_RESOURCE_EXHAUSTED) {
        call_fail_memory(b->call);
    } else if (status != DYN_OK) {
        call_blame(b->call, "%s", stepping_error_path(&error, path));
        call_fail_library(b->call, &error);
    }
    if (status != DYN_OK) {
        return false;
    }
    status = dyn_simulator_use_compiled(*simulator, code->compiled, &error);
    if (status == DYN_OK && b->values.payload_count > 0) {
        status = dyn_simulator_load(*simulator, b->values.payload_count, b->values.payloads, &error);
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
