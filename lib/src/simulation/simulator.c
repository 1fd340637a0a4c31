/* SPDX-License-Identifier: BSD-2-Clause */
#include "simulator.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../actuation/link_force.h"
#include "../dynamics/arguments.h"
#include "../dynamics/base_motion.h"
#include "../dynamics/carve.h"
#include "../model/contact_surface.h"
#include "../model/error.h"
#include "../model/normal_form.h"
#include "../model/sized.h"

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

/* Arrays of the springs at the limits of joints, in the layout of the kernels: indices in q and v, and limits. */
typedef struct spring_arrays {
    int *q, *v;
    double *lower, *upper;
} spring_arrays;

/* Returns whether the stages of Runge-Kutta 4 compute forces. */
static bool has_stages(const dyn_model *model, const dyn_simulation_options *options) {
    return options->integrator == DYN_INTEGRATOR_RUNGE_KUTTA_4 &&
           (options->base_may_move || dyn_link_force_count(model) > 0);
}

/* Lays the parts of a simulator out from `base` for s->model and s->options. Returns their total size. */
static size_t lay_out(size_t lanes, uintptr_t base, dyn_simulator *s, spring_arrays *springs) {
    const dyn_model *model = s->model;
    uintptr_t cursor = base;
    int stops = dyn_joint_ranges(model);
    size_t nq = (size_t)model->nq, nv = (size_t)model->nv, ranges = (size_t)stops;
    double **by_velocity[] = {&s->joints.damping, &s->joints.friction, &s->joints.effort, &s->stiffness, &s->damping};
    double **packed_q[] = {&s->q, &s->q_next, &s->q_ref};
    double **packed_v[] = {&s->v,     &s->v_next,   &s->tau,    &s->tau_end,    &s->v_ref,
                           &s->a_ref, &s->tau_from, &s->tau_to, &s->control_tau};
    for (size_t i = 0; i < sizeof by_velocity / sizeof by_velocity[0]; i++) {
        *by_velocity[i] = dyn_carve(&cursor, nv * sizeof(double));
    }
    for (size_t i = 0; i < sizeof packed_q / sizeof packed_q[0]; i++) {
        *packed_q[i] = dyn_carve(&cursor, nq * lanes * sizeof(double));
    }
    for (size_t i = 0; i < sizeof packed_v / sizeof packed_v[0]; i++) {
        *packed_v[i] = dyn_carve(&cursor, nv * lanes * sizeof(double));
    }
    s->inverse = nv <= MOST_INVERSE ? dyn_carve(&cursor, nv * nv * lanes * sizeof(double)) : NULL;
    size_t elements = (size_t)dyn_machine_elements(model);
    s->joints.ranges = dyn_carve(&cursor, ranges * sizeof(joint_range));
    s->joints.laws = dyn_carve(&cursor, elements * sizeof(friction_law));
    s->joints.springs = dyn_carve(&cursor, elements * sizeof(spring_law));
    s->joints.bristles = dyn_carve(&cursor, elements * sizeof(bristle_law));
    s->results = dyn_carve(&cursor, lanes * sizeof(dyn_sample_result));
    springs->q = dyn_carve(&cursor, ranges * sizeof(int));
    springs->v = dyn_carve(&cursor, ranges * sizeof(int));
    springs->lower = dyn_carve(&cursor, ranges * sizeof(double));
    springs->upper = dyn_carve(&cursor, ranges * sizeof(double));
    bool are_rigid = s->options.stop == DYN_JOINT_STOP_RIGID;
    cursor += joint_stops_lay_out(model, are_rigid ? stops : 0, lanes, cursor, &s->stops);
    cursor += simulated_loops_lay_out(model, lanes, cursor, &s->loops);
    cursor += simulated_bristles_lay_out(model, lanes, cursor, &s->bristles);
    cursor += simulated_gears_lay_out(model, lanes, cursor, &s->gears);
    cursor += simulated_shafts_lay_out(model, lanes, cursor, &s->shafts);
    cursor += simulated_link_forces_lay_out(model, lanes, cursor, &s->link_forces);
    cursor += simulated_base_lay_out(model, s->options.base_may_move, lanes, cursor, &s->base);
    cursor += simulated_stages_lay_out(model, has_stages(model, &s->options), lanes, cursor, &s->stages);
    int joints = s->options.solve_joints ? model->nv : 0;
    s->contacts.joints = dyn_carve(&cursor, (size_t)joints * sizeof *s->contacts.joints);
    cursor += contacts_lay_out(model, joints, lanes, cursor, &s->contacts.contacts);
    return cursor - base;
}

/* ---- From options to arguments of the kernels -------------------------------------------------------------------- */

static void fill_springs(dyn_simulator *s, const spring_arrays *springs) {
    joint_resistance *r = &s->step.resistance;
    for (int i = 0; i < s->joints.range_count; i++) {
        springs->q[i] = s->joints.ranges[i].q_index, springs->v[i] = s->joints.ranges[i].v_index;
        springs->lower[i] = s->joints.ranges[i].lower, springs->upper[i] = s->joints.ranges[i].upper;
    }
    r->spring_count = s->options.stop == DYN_JOINT_STOP_SPRING ? s->joints.range_count : 0;
    r->spring_q = springs->q, r->spring_v = springs->v;
    r->spring_lower = springs->lower, r->spring_upper = springs->upper;
    r->spring_stiffness = s->options.stop_stiffness, r->spring_damping = s->options.stop_damping;
}

/* Adds the friction laws of the engaged brakes. */
static void add_brakes(dyn_simulator *s) {
    s->first_brake = s->joints.law_count;
    for (size_t i = 0; i < s->options.brake_count; i++) {
        int element = find_brake(s->model, s->options.brakes[i]);
        s->joints.law_count += dyn_element_brake(s->model, element, &s->joints.laws[s->joints.law_count]);
    }
    s->options.brakes = NULL, s->options.brake_count = 0;
}

/* Fills the laws and springs of machine elements. */
static void fill_elements(dyn_simulator *s) {
    joint_resistance *r = &s->step.resistance;
    for (int i = 0; i < s->joints.law_count; i++) {
        friction_law *law = &s->joints.laws[i];
        for (int k = 0; k < 2; k++) {
            law->viscous[k] = s->options.ignore_damping ? 0 : law->viscous[k];
            law->coulomb[k] = s->options.ignore_friction ? 0 : law->coulomb[k];
            law->excess[k] = s->options.ignore_friction ? 0 : law->excess[k];
        }
    }
    add_brakes(s);
    r->laws = s->joints.laws, r->law_count = s->joints.law_count;
    r->rests = s->joints.springs, r->rest_count = s->options.ignore_springs ? 0 : s->joints.spring_count;
}

static void fill_step(dyn_simulator *s) {
    const dyn_simulation_options *o = &s->options;
    static const step_scheme schemes[] = {STEP_SEMI_IMPLICIT_EULER, STEP_EXPLICIT_EULER, STEP_RUNGE_KUTTA_4};
    s->step.scheme = schemes[o->integrator];
    s->step.dt = o->step_length / o->substeps;
    s->step.gravity = s->gravity;
    s->step.resistance.damping = s->joints.has_damping && !o->ignore_damping ? s->joints.damping : NULL;
    s->step.resistance.friction =
        s->joints.has_friction && !o->ignore_friction && !o->solve_joints ? s->joints.friction : NULL;
    s->step.resistance.friction_velocity = o->friction_velocity;
}

static void fill_control(dyn_simulator *s) {
    static const control_law laws[] = {CONTROL_PD, CONTROL_PD, CONTROL_PD_GRAVITY, CONTROL_COMPUTED_TORQUE};
    size_t bytes = (size_t)s->model->nv * sizeof(double);
    if (s->options.control_stiffness) {
        memcpy(s->stiffness, s->options.control_stiffness, bytes);
    }
    if (s->options.control_damping) {
        memcpy(s->damping, s->options.control_damping, bytes);
    }
    s->options.control_stiffness = s->stiffness;
    s->options.control_damping = s->damping;
    s->control = (control_parameters){
        .law = laws[s->options.control], .stiffness = s->stiffness, .damping = s->damping, .gravity = s->gravity};
}

/* Chooses what acts on the accelerations of a step. */
static void choose_constraints(dyn_simulator *s) {
    s->step.constraint = (step_constraint){0};
    simulator_choose_loops(s);
    simulator_choose_contacts(s);
    simulator_choose_gears(s);
    simulator_choose_shafts(s);
    simulator_choose_stages(s);
}

dyn_status dyn_simulator_create(const dyn_model *model, const dyn_simulation_options *options,
                                dyn_simulator **simulator, dyn_error *error) {
    spring_arrays springs;
    dyn_workspace *workspace = NULL, *second = NULL;
    dyn_simulation_options chosen = DYN_SIMULATION_OPTIONS_INIT();
    dyn_status status = dyn_sized_read("options", options, sizeof chosen, &chosen, error);
    if (status == DYN_OK) {
        status = simulation_options_check(model, &chosen, error);
    }
    if (status == DYN_OK) {
        status = dyn_workspace_create(model, &workspace, error);
    }
    bool can_touch = count_contact_pairs(model->description) > 0 || chosen.solve_joints;
    bool has_loops = model->constraint_rows > 0;
    bool has_gears = dyn_lossy_gears(model) > 0 && !chosen.ignore_gear_losses;
    bool has_shafts = dyn_shaft_elements(model) > 0;
    bool is_staged = has_stages(model, &chosen);
    if (status == DYN_OK && (has_loops || can_touch || has_gears || has_shafts || is_staged)) {
        status = dyn_workspace_create(model, &second, error);
    }
    if (status != DYN_OK) {
        dyn_workspace_free(workspace);
        return status;
    }
    size_t lanes = (size_t)workspace->kernels->wide->lanes;
    dyn_simulator measured = {.model = model, .options = chosen};
    size_t size = dyn_carve_size(sizeof(dyn_simulator)) + lay_out(lanes, 0, &measured, &springs);
    dyn_simulator *s = aligned_alloc(CARVE_ALIGNMENT, size);
    if (!s) {
        dyn_workspace_free(workspace);
        dyn_workspace_free(second);
        return dyn_error_because(error, DYN_RESOURCE_EXHAUSTED, DYN_CAUSE_MEMORY, "simulator",
                                 "no memory for %zu bytes", size);
    }
    memset(s, 0, size);
    s->model = model, s->workspace = workspace, s->options = chosen;
    lay_out(lanes, (uintptr_t)s + dyn_carve_size(sizeof(dyn_simulator)), s, &springs);
    memcpy(s->gravity, chosen.has_gravity ? chosen.gravity : model->gravity, sizeof s->gravity);
    dyn_joint_properties(model, &s->joints);
    fill_step(s);
    s->shafts.workspace = has_shafts ? second : NULL;
    simulator_add_shafts(s);
    fill_elements(s);
    simulator_choose_bristles(s);
    simulator_choose_link_forces(s);
    fill_springs(s, &springs);
    fill_control(s);
    s->second = second;
    s->loops.workspace = has_loops ? second : NULL;
    s->contacts.workspace = can_touch ? second : NULL;
    s->gears.workspace = has_gears ? second : NULL;
    s->stages.workspace = is_staged ? second : NULL;
    choose_constraints(s);
    *simulator = s;
    return DYN_OK;
}

void dyn_simulator_free(dyn_simulator *simulator) {
    if (simulator) {
        dyn_workspace_free(simulator->workspace);
        dyn_workspace_free(simulator->second);
        free(simulator);
    }
}

const dyn_simulation_options *dyn_simulator_options(const dyn_simulator *simulator) {
    return &simulator->options;
}

const double *dyn_simulator_gravity(const dyn_simulator *simulator) {
    return simulator->gravity;
}

/* Selects the functions for steps. Compiled functions apply only to the model without payloads and to its own gravity.
 */
static void choose_functions(dyn_simulator *s) {
    const dyn_workspace *w = s->workspace;
    bool fits = s->compiled && s->model == w->model && memcmp(s->gravity, w->model->gravity, sizeof s->gravity) == 0;
    s->wide_step = fits ? dyn_compiled_step(s->compiled, w->kernels->wide) : (compiled_step){0};
    s->lone_step = fits ? dyn_compiled_step(s->compiled, w->kernels->one) : (compiled_step){0};
}

dyn_status dyn_simulator_load(dyn_simulator *simulator, size_t count, const dyn_payload *payloads, dyn_error *error) {
    dyn_status status = dyn_workspace_load(simulator->workspace, count, payloads, &simulator->model, error);
    choose_functions(simulator);
    choose_constraints(simulator);
    return status;
}

dyn_status dyn_simulator_use_compiled(dyn_simulator *simulator, const dyn_compiled *compiled, dyn_error *error) {
    if (compiled && compiled->model != simulator->workspace->model) {
        return dyn_error_set(error, DYN_INVALID_ARGUMENT, "compiled", "it was loaded for another model");
    }
    simulator->compiled = compiled;
    choose_functions(simulator);
    return DYN_OK;
}

bool dyn_simulator_is_compiled(const dyn_simulator *simulator) {
    return simulator->wide_step.aba != NULL;
}

const dyn_model *dyn_simulator_model(const dyn_simulator *simulator) {
    return simulator->model;
}

dyn_workspace *dyn_simulator_workspace(dyn_simulator *simulator) {
    return simulator->workspace;
}

/* ---- One step of a block ----------------------------------------------------------------------------------------- */

void simulator_begin(dyn_simulator *s, sample_block block) {
    s->step.compiled = s->control.compiled = block.lanes == 1 ? s->lone_step : s->wide_step;
    s->loops.block = s->contacts.block = block;
}

void simulator_load(dyn_simulator *s, sample_block block, const double *q, const double *v) {
    size_t nq = (size_t)s->model->nq, nv = (size_t)s->model->nv;
    simulator_begin(s, block);
    block.kernels->pack(q + block.first * nq, nq, nq, block.count, s->q);
    block.kernels->pack(v + block.first * nv, nv, nv, block.count, s->v);
}

static void cut_to_effort(const dyn_simulator *s, sample_block block, double *tau) {
    for (int j = 0; j < s->model->nv; j++) {
        double most = s->joints.effort[j];
        for (size_t l = 0; most < DBL_MAX && l < block.lanes; l++) {
            double *x = &tau[lane_index(block, j, l)];
            *x = *x > most ? most : *x < -most ? -most : *x;
        }
    }
}

/* Adds the packed array x to y. */
static void add_packed(size_t count, const double *x, double *y) {
    for (size_t i = 0; i < count; i++) {
        y[i] += x[i];
    }
}

void simulator_actuate(dyn_simulator *s, sample_block block, bool is_linear) {
    if (s->options.control != DYN_CONTROL_NONE) {
        size_t count = (size_t)s->model->nv * block.lanes;
        memset(s->control_tau, 0, count * sizeof(double));
        const packed_reference reference = {s->q_ref, s->v_ref, s->a_ref};
        block.kernels->control(s->model, s->workspace->memory, &s->control, s->q, s->v, &reference, s->control_tau);
        add_packed(count, s->control_tau, s->tau);
        if (is_linear) {
            add_packed(count, s->control_tau, s->tau_end);
        }
    }
    if (!s->options.ignore_effort_limits) {
        cut_to_effort(s, block, s->tau);
        if (is_linear) {
            cut_to_effort(s, block, s->tau_end);
        }
    }
}

static int joint_of_q(const dyn_model *model, int k) {
    int j = 0;
    while (k < model->joints[j].q_index || k >= model->joints[j].q_index + model->joints[j].nq) {
        j++;
    }
    return j;
}

static int joint_of_v(const dyn_model *model, int k) {
    int j = 0;
    while (k < model->joints[j].v_index || k >= model->joints[j].v_index + model->joints[j].nv) {
        j++;
    }
    return j;
}

/* Sets status and joint of a sample whose next state is not valid. */
static void check_state(const dyn_simulator *s, sample_block block, size_t l, dyn_sample_result *result) {
    /* A pivot of zero corrupts those above it in the tree: the last one is the cause. */
    for (int k = s->model->nv - 1; result->status == DYN_SAMPLE_STATUS_RUNNING && k >= 0; k--) {
        if (!(dyn_packed_number(s->workspace->pivots, (size_t)k, block, l) > 0)) {
            result->joint = joint_of_v(s->model, k);
            result->status = DYN_SAMPLE_STATUS_SINGULAR;
        }
    }
    for (int k = 0; result->status == DYN_SAMPLE_STATUS_RUNNING && k < s->model->nv; k++) {
        double v = s->v_next[lane_index(block, k, l)];
        if (!(fabs(v) <= s->options.velocity_bound)) {
            result->joint = joint_of_v(s->model, k);
            result->status = isfinite(v) ? DYN_SAMPLE_STATUS_TOO_FAST : DYN_SAMPLE_STATUS_NOT_FINITE;
        }
    }
    for (int k = 0; result->status == DYN_SAMPLE_STATUS_RUNNING && k < s->model->nq; k++) {
        if (!isfinite(s->q_next[lane_index(block, k, l)])) {
            result->joint = joint_of_q(s->model, k);
            result->status = DYN_SAMPLE_STATUS_NOT_FINITE;
        }
    }
}

/* Sets the status of the samples whose next state is not valid. The next state of each stopped sample is its present
 * one. */
static void settle(dyn_simulator *s, const simulated_step *step) {
    sample_block block = step->block;
    for (size_t l = 0; l < block.lanes; l++) {
        dyn_sample_result *result = &step->results[l < block.count ? l : block.count - 1];
        check_state(s, block, l, result);
        for (int k = 0; result->status != DYN_SAMPLE_STATUS_RUNNING && k < s->model->nq; k++) {
            s->q_next[lane_index(block, k, l)] = s->q[lane_index(block, k, l)];
        }
        for (int k = 0; result->status != DYN_SAMPLE_STATUS_RUNNING && k < s->model->nv; k++) {
            s->v_next[lane_index(block, k, l)] = s->v[lane_index(block, k, l)];
        }
    }
}

static bool has_stopped(const simulated_step *step) {
    bool any = false;
    for (size_t l = 0; l < step->block.count; l++) {
        any |= step->results[l].status != DYN_SAMPLE_STATUS_RUNNING;
    }
    return any;
}

/* Returns whether the next state of every lane is valid: pivots positive, velocities within the bound, q finite. */
static bool is_sound(const dyn_simulator *s, sample_block block) {
    size_t nq = (size_t)s->model->nq * block.lanes, nv = (size_t)s->model->nv * block.lanes;
    return block.kernels->all_positive(s->workspace->pivots, (size_t)s->model->nv) &&
           block.kernels->all_within(s->v_next, nv, s->options.velocity_bound) &&
           block.kernels->all_within(s->q_next, nq, DBL_MAX);
}

/* Interpolates tau between its ends at the fraction x of the step. */
static void interpolate_tau(const dyn_simulator *s, sample_block block, double x, double *tau) {
    for (size_t i = 0; i < (size_t)s->model->nv * block.lanes; i++) {
        tau[i] = s->tau[i] + x * (s->tau_end[i] - s->tau[i]);
    }
}

void simulator_correct(dyn_simulator *s, const simulated_step *step) {
    bool closes = s->loops.workspace && !s->options.ignore_projection;
    bool has_stops = s->options.stop == DYN_JOINT_STOP_RIGID && simulator_clamp_joints(s, step);
    /* Positions are closed last, since that may move a joint away from its limit before it was stopped. */
    if (has_stops && s->options.solve_joints) {
        simulator_note_stops(s, step);
    } else if (has_stops) {
        simulator_stop_joints(s, step);
    }
    if (closes) {
        simulator_close_positions(s, step, has_stops);
        simulator_close_velocities(s, step);
    }
}

static void substep(dyn_simulator *s, const simulated_step *step, int i) {
    sample_block block = step->block;
    const double *from = s->tau, *to = NULL;
    if (step->is_linear) {
        interpolate_tau(s, block, (double)i / s->options.substeps, s->tau_from);
        interpolate_tau(s, block, (i + 1.0) / s->options.substeps, s->tau_to);
        from = s->tau_from, to = s->tau_to;
    }
    double implicit_dt = s->step.scheme == STEP_SEMI_IMPLICIT_EULER ? s->step.dt : 0;
    simulator_begin_shafts(s, block, implicit_dt);
    s->stages.block = block;
    if (s->gears.count > 0) {
        simulator_begin_gears(s, block, implicit_dt, from, to);
    }
    if (s->bristles.count > 0) {
        from = simulator_add_bristles(s, block, 0, from);
        to = to ? simulator_add_bristles(s, block, 1, to) : NULL;
    }
    if (simulator_holds_link_forces(s)) {
        from = simulator_add_link_forces(s, block, 0, s->q, s->v, from);
        to = to ? simulator_add_link_forces(s, block, 1, s->q, s->v, to) : NULL;
    }
    if (simulator_has_base_forces(s)) {
        from = simulator_add_base_forces(s, 0, s->q, s->v, from);
        to = to ? simulator_add_base_forces(s, 1, s->q, s->v, to) : NULL;
    }
    const step_input in = {s->q, s->v, from, to, &step->wrenches};
    block.kernels->step(s->model, s->workspace->memory, &s->step, &in, s->workspace->pivots, s->q_next, s->v_next);
    if (!is_sound(s, block) || has_stopped(step)) {
        settle(s, step);
    }
    double *q = s->q, *v = s->v;
    s->q = s->q_next, s->v = s->v_next;
    s->q_next = q, s->v_next = v;
    s->time = s->loops.closures.time = step->time + (i + 1) * s->step.dt;
    simulator_correct(s, step);
    if (s->bristles.count > 0) {
        simulator_move_bristles(s, block);
    }
}

size_t simulator_advance(dyn_simulator *s, const simulated_step *step) {
    for (size_t l = 0; l < step->block.count; l++) {
        step->results[l].hit_joint = 0;
    }
    s->time = step->time;
    for (int i = 0; i < s->options.substeps; i++) {
        substep(s, step, i);
    }
    if (s->loops.workspace) {
        simulator_report_closure(s, step);
    }
    if (s->contacts.workspace) {
        simulator_report_contacts(s, step);
    }
    size_t running = 0;
    for (size_t l = 0; l < step->block.count; l++) {
        running += step->results[l].status == DYN_SAMPLE_STATUS_RUNNING;
    }
    return running;
}

/* ---- Entry point ------------------------------------------------------------------------------------------------- */

static dyn_status check_reference(const dyn_simulator *s, size_t n, const dyn_step_input *input, dyn_error *error) {
    if (s->options.control == DYN_CONTROL_NONE) {
        return input->q_ref ? dyn_error_set(error, DYN_INVALID_ARGUMENT, "q_ref",
                                            "there is a reference but no controller that follows it; choose one")
                            : DYN_OK;
    }
    dyn_status status = dyn_check_configuration(s->model, "q_ref", n, input->q_ref, error);
    if (status == DYN_OK) {
        status = dyn_check_v(s->workspace, "v_ref", n, input->v_ref, error);
    }
    return status == DYN_OK ? dyn_check_v(s->workspace, "a_ref", n, input->a_ref, error) : status;
}

/* Checks that the caller keeps the deflections of bristles. */
static dyn_status check_bristles(const dyn_simulator *s, size_t n, const dyn_step_input *input, dyn_error *error) {
    if (s->bristles.count == 0) {
        return DYN_OK;
    }
    if (!input->bristles) {
        return dyn_error_set(error, DYN_INVALID_ARGUMENT, "bristles",
                             "%d friction laws of the model have bristles; pass their deflections, zeros at the start",
                             s->bristles.count);
    }
    for (size_t i = 0; i < n * (size_t)s->bristles.count; i++) {
        if (!isfinite(input->bristles[i])) {
            const dyn_error_site site = {
                .cause = DYN_CAUSE_NOT_FINITE, .argument = "bristles", .has_index = true, .index = i};
            return dyn_error_at(error, DYN_INVALID_ARGUMENT, &site, "the value is %g; pass a finite number",
                                input->bristles[i]);
        }
    }
    return DYN_OK;
}

dyn_status simulator_check_base(const dyn_simulator *s, size_t n, const dyn_base_motion *base, dyn_error *error) {
    if (!base) {
        return DYN_OK;
    }
    return s->options.base_may_move
               ? dyn_check_base_motion(n, base, error)
               : dyn_error_set(error, DYN_INVALID_ARGUMENT, "base_motion",
                               "the simulator was created for a base at rest; set its option base_may_move");
}

static dyn_status check_step(const dyn_simulator *s, size_t n, const dyn_step_input *input, const double *q,
                             const double *v, dyn_error *error) {
    const dynamics_inputs in = {NULL, q, v, "tau", input->tau, input->forces};
    dyn_status status = dyn_check_inputs(s->model, s->workspace, n, &in, error);
    if (status == DYN_OK) {
        status = dyn_check_v(s->workspace, "tau_end", n, input->tau_end, error);
    }
    if (status == DYN_OK) {
        status = check_bristles(s, n, input, error);
    }
    if (status == DYN_OK) {
        status = simulator_check_base(s, n, input->base, error);
    }
    if (status == DYN_OK && !isfinite(input->time)) {
        return dyn_error_set(error, DYN_INVALID_ARGUMENT, "time", "the time is %g s; pass a finite number",
                             input->time);
    }
    return status == DYN_OK ? check_reference(s, n, input, error) : status;
}

/* Packs the rows of a block; NULL means zeros. */
static void pack_rows(sample_block block, const double *rows, int width, double *packed) {
    size_t w = (size_t)width;
    if (rows) {
        block.kernels->pack(rows + block.first * w, w, w, block.count, packed);
    } else {
        memset(packed, 0, w * block.lanes * sizeof(double));
    }
}

/* Computes one step of one block, from the caller's rows and back. */
static void step_block(dyn_simulator *s, sample_block block, const dyn_step_input *input, double *q, double *v,
                       double *tau, dyn_sample_result *results) {
    int nq = s->model->nq, nv = s->model->nv;
    simulated_step step = {block, dyn_block_wrenches(s->workspace, input->forces, block), input->tau_end != NULL,
                           results ? results + block.first : s->results, input->time};
    if (!results) {
        memset(s->results, 0, block.count * sizeof *s->results);
    }
    simulator_load(s, block, q, v);
    pack_rows(block, input->tau, nv, s->tau);
    pack_rows(block, input->tau_end, nv, s->tau_end);
    if (input->q_ref) {
        pack_rows(block, input->q_ref, nq, s->q_ref);
        pack_rows(block, input->v_ref, nv, s->v_ref);
        pack_rows(block, input->a_ref, nv, s->a_ref);
    }
    simulator_actuate(s, block, step.is_linear);
    simulator_move_base(s, block, input->base);
    if (s->bristles.count > 0) {
        simulator_load_bristles(s, block, input->bristles);
    }
    simulator_advance(s, &step);
    if (s->bristles.count > 0) {
        simulator_store_bristles(s, block, input->bristles);
    }
    block.kernels->unpack(s->q, (size_t)nq, block.count, q + block.first * (size_t)nq);
    block.kernels->unpack(s->v, (size_t)nv, block.count, v + block.first * (size_t)nv);
    if (tau) {
        block.kernels->unpack(s->tau, (size_t)nv, block.count, tau + block.first * (size_t)nv);
    }
}

dyn_status dyn_simulator_step(dyn_simulator *simulator, size_t n, const dyn_step_input *input, double *q, double *v,
                              double *tau, dyn_sample_result *results, dyn_error *error) {
    dyn_step_input known = DYN_STEP_INPUT_INIT();
    dyn_simulator *s = simulator;
    dyn_status status = dyn_sized_read("input", input, sizeof known, &known, error);
    if (status == DYN_OK) {
        status = check_step(s, n, &known, q, v, error);
    }
    if (status != DYN_OK) {
        return status;
    }
    for (sample_block block = simulator_block(s, n, 0); block.count > 0;
         block = simulator_block(s, n, block.first + block.count)) {
        step_block(s, block, &known, q, v, tau, results);
    }
    return DYN_OK;
}
