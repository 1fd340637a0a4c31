/* SPDX-License-Identifier: BSD-2-Clause */
/* Steps one robot through time and reports joints at their limits. */
#include "simulations/stepper.h"

#include <dynamics/constrained_dynamics.h>
#include <dynamics/contact.h>
#include <math.h>
#include <dynamics/machine_element.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Time within the limits, in s, after which a joint is reported again. */
static const double QUIET_TIME = 0.1;

/* Joint with limits. */
typedef struct limited_joint {
    double lower, upper;
    int joint, q_index;
    unsigned quiet; /* steps until it is reported again */
} limited_joint;

struct stepper {
    dyn_simulator *simulator;
    const dyn_model *model;
    size_t nv;
    double *deviation; /* NULL: no disturbance */
    double *tau;
    double *closure_errors; /* of all rows of the model's constraints */
    double *bristles;       /* deflections of friction with bristles */
    stepper_contacts contacts;
    size_t bristle_count;
    dyn_external_force forces[STEPPER_FORCES];
    limited_joint *limited;
    size_t limited_count, next_limited;
    unsigned quiet_steps;
    dyn_sample_result result;
};

static bool find_limited(stepper *s) {
    int count = dyn_model_joint_count(s->model);
    s->limited = calloc(count > 0 ? (size_t)count : 1, sizeof *s->limited);
    for (int j = 0; s->limited && j < count; j++) {
        const dyn_joint *joint = dyn_model_joint(s->model, j);
        if (joint->has_limits && joint->nq == 1 && joint->limits.lower < joint->limits.upper) {
            s->limited[s->limited_count++] = (limited_joint){
                .lower = joint->limits.lower, .upper = joint->limits.upper, .joint = j, .q_index = joint->q_index};
        }
    }
    return s->limited != NULL;
}

static bool allocate(stepper *s, const double *deviation) {
    size_t bytes = (s->nv ? s->nv : 1) * sizeof(double);
    s->tau = malloc(bytes);
    s->deviation = deviation ? malloc(bytes) : NULL;
    s->bristle_count = (size_t)dyn_model_bristle_count(s->model);
    s->bristles = calloc(s->bristle_count + 1, sizeof *s->bristles);
    s->closure_errors = calloc((size_t)dyn_model_constraint_rows(s->model) + 1, sizeof *s->closure_errors);
    size_t surfaces = (size_t)dyn_model_contact_surface_count(s->model);
    double *contacts = calloc(5 * surfaces + 1, sizeof *contacts);
    s->contacts = contacts ? (stepper_contacts){surfaces, contacts, contacts + 3 * surfaces, contacts + 4 * surfaces, 0}
                           : (stepper_contacts){0};
    if (s->deviation) {
        memcpy(s->deviation, deviation, s->nv * sizeof *deviation);
    }
    return s->tau && s->bristles && s->closure_errors && s->contacts.forces && (s->deviation || !deviation) &&
           find_limited(s);
}

/* Creates the simulator of the library. */
static dyn_status create_simulator(stepper *s, const stepper_setup *setup, dyn_error *error) {
    dyn_status status = dyn_simulator_create(s->model, setup->options, &s->simulator, error);
    if (status == DYN_OK) {
        status = dyn_simulator_use_compiled(s->simulator, setup->compiled, error);
    }
    if (status == DYN_OK && setup->payload_count > 0) {
        status = dyn_simulator_load(s->simulator, setup->payload_count, setup->payloads, error);
    }
    return status;
}

dyn_status stepper_create(const dyn_model *model, const stepper_setup *setup, dyn_error *error, stepper **result) {
    stepper *s = calloc(1, sizeof *s);
    *error = (dyn_error){.status = DYN_RESOURCE_EXHAUSTED, .site.cause = DYN_CAUSE_MEMORY, .message = "out of memory"};
    if (!s) {
        return DYN_RESOURCE_EXHAUSTED;
    }
    s->model = model;
    s->nv = (size_t)dyn_model_nv(model);
    s->quiet_steps = (unsigned)fmin(ceil(QUIET_TIME / setup->options->step_length), 1e9);
    dyn_status status = allocate(s, setup->deviation) ? create_simulator(s, setup, error) : DYN_RESOURCE_EXHAUSTED;
    if (status != DYN_OK) {
        stepper_free(s);
        return status;
    }
    *result = s;
    return DYN_OK;
}

void stepper_free(stepper *s) {
    if (s) {
        dyn_simulator_free(s->simulator);
        free(s->deviation);
        free(s->tau);
        free(s->bristles);
        free(s->contacts.forces);
        free(s->closure_errors);
        free(s->limited);
        free(s);
    }
}

void stepper_release_bristles(stepper *s) {
    memset(s->bristles, 0, s->bristle_count * sizeof *s->bristles);
}

double *stepper_bristles(const stepper *s, size_t *count) {
    *count = s->bristle_count;
    return s->bristles;
}

const dyn_simulation_options *stepper_options(const stepper *s) {
    return dyn_simulator_options(s->simulator);
}

const double *stepper_deviation(const stepper *s) {
    return s->deviation;
}

bool stepper_is_compiled(const stepper *s) {
    return dyn_simulator_is_compiled(s->simulator);
}

/* Writes to `error` why the robot diverged in the last step. */
static void describe(const stepper *s, dyn_error *error) {
    const char *joint = dyn_model_joint(s->model, s->result.joint)->name;
    *error = (dyn_error){.status = DYN_FAILED_PRECONDITION};
    switch (s->result.status) {
    case DYN_SAMPLE_STATUS_RUNNING:
        break;
    case DYN_SAMPLE_STATUS_NOT_FINITE:
        snprintf(error->message, sizeof error->message, "the state of %.80s is no finite number", joint);
        break;
    case DYN_SAMPLE_STATUS_TOO_FAST:
        snprintf(error->message, sizeof error->message, "%.80s is faster than %g, the velocity bound", joint,
                 stepper_options(s)->velocity_bound);
        break;
    case DYN_SAMPLE_STATUS_SINGULAR:
        snprintf(error->message, sizeof error->message,
                 "no inertia resists %.80s: set a mass and an inertia for the links that it moves, "
                 "or damping for the joint",
                 joint);
        break;
    }
}

dyn_external_forces stepper_list_forces(const stepper_forces *forces, dyn_external_force list[STEPPER_FORCES]) {
    for (size_t i = 0; i < forces->count; i++) {
        list[i] = (dyn_external_force){
            .frame = forces->force[i].frame,
            .reference_frame = forces->force[i].reference_frame,
            .wrench = forces->force[i].wrench,
        };
    }
    return (dyn_external_forces){forces->count, list};
}

/* Stores the contacts of the last step. */
static void store_contacts(stepper *s) {
    for (size_t i = 0; i < s->contacts.count; i++) {
        dyn_contact_state state = {.gap = INFINITY};
        dyn_simulator_contact(s->simulator, (int)i, &state);
        memcpy(s->contacts.forces + 3 * i, state.force, sizeof state.force);
        s->contacts.gaps[i] = state.gap;
        s->contacts.slips[i] = state.slip;
    }
    s->contacts.residual = s->result.contact_residual;
}

stepper_contacts stepper_contacts_of(const stepper *s) {
    return s->contacts;
}

/* Adds the disturbance to the forces of an input. */
static void disturb(const stepper *s, const stepper_input *input, disturbance *generator, double *tau) {
    memcpy(tau, input->tau, s->nv * sizeof *tau);
    for (size_t i = 0; s->deviation && i < s->nv; i++) {
        tau[i] += s->deviation[i] * disturbance_normal(generator);
    }
}

bool stepper_step(stepper *s, const stepper_input *input, disturbance *generator, double *q, double *v, double *tau,
                  dyn_error *error) {
    bool has_control = stepper_options(s)->control != DYN_CONTROL_NONE;
    disturb(s, input, generator, s->tau);
    dyn_external_forces forces = stepper_list_forces(input->forces, s->forces);
    const dyn_base_motion base = {input->base->twist, input->base->acceleration, 0};
    dyn_step_input acting =
        DYN_STEP_INPUT_INIT(.tau = s->tau, .q_ref = has_control ? input->q_ref : NULL,
                            .v_ref = has_control ? input->v_ref : NULL, .a_ref = has_control ? input->a_ref : NULL,
                            .forces = forces.count > 0 ? &forces : NULL, .bristles = s->bristles, .time = input->time,
                            .base = input->base->is_set ? &base : NULL);
    s->result = (dyn_sample_result){0};
    s->next_limited = 0;
    if (dyn_simulator_step(s->simulator, 1, &acting, q, v, tau, &s->result, error) != DYN_OK ||
        stepper_failure(s, error)) {
        return false;
    }
    store_contacts(s);
    return true;
}

bool stepper_failure(const stepper *s, dyn_error *error) {
    if (s->result.status == DYN_SAMPLE_STATUS_RUNNING) {
        return false;
    }
    describe(s, error);
    return true;
}

/* ---- several robots ---------------------------------------------------------------------------------------------- */

bool stepper_is_joinable(const stepper *s) {
    return s->contacts.count == 0 && s->bristle_count == 0 && dyn_model_constraint_rows(s->model) == 0;
}

bool stepper_input_is_joinable(const stepper_input *input) {
    return input->forces->count == 0 && !input->base->is_set;
}

/* Numbers of n robots, row by row. */
typedef struct step_rows {
    double *q, *v, *q_ref; /* of the state and the reference */
    double *tau, *v_ref, *a_ref, *applied;
    dyn_sample_result *results;
    disturbance *generators; /* before the step */
} step_rows;

size_t stepper_memory(const stepper *s, size_t n) {
    size_t nq = (size_t)dyn_model_nq(s->model);
    return n * ((2 * nq + 5 * s->nv) * sizeof(double) + sizeof(dyn_sample_result) + sizeof(disturbance));
}

static step_rows divide(void *memory, size_t n, size_t nq, size_t nv) {
    step_rows r = {.q = memory};
    r.v = r.q + n * nq, r.q_ref = r.v + n * nv;
    r.tau = r.q_ref + n * nq, r.v_ref = r.tau + n * nv, r.a_ref = r.v_ref + n * nv, r.applied = r.a_ref + n * nv;
    r.generators = (disturbance *)(r.applied + n * nv);
    r.results = (dyn_sample_result *)(r.generators + n);
    return r;
}

static void copy_row(double *to, size_t row, const double *from, size_t length) {
    memcpy(to + row * length, from, length * sizeof *to);
}

/* Copies the state and the input of a robot to its row. */
static void load_row(const stepper_turn *turn, size_t row, size_t nq, bool has_control, const step_rows *r) {
    size_t nv = turn->stepper->nv;
    r->generators[row] = *turn->generator;
    r->results[row] = (dyn_sample_result){0};
    copy_row(r->q, row, turn->q, nq);
    copy_row(r->v, row, turn->v, nv);
    disturb(turn->stepper, turn->input, turn->generator, r->tau + row * nv);
    if (has_control) {
        copy_row(r->q_ref, row, turn->input->q_ref, nq);
        copy_row(r->v_ref, row, turn->input->v_ref, nv);
        copy_row(r->a_ref, row, turn->input->a_ref, nv);
    }
}

/* Copies the state after the step back to a robot. */
static void store_row(const stepper_turn *turn, size_t row, size_t nq, const step_rows *r) {
    size_t nv = turn->stepper->nv;
    turn->stepper->result = r->results[row];
    turn->stepper->next_limited = 0;
    copy_row(turn->q, 0, r->q + row * nq, nq);
    copy_row(turn->v, 0, r->v + row * nv, nv);
    copy_row(turn->tau, 0, r->applied + row * nv, nv);
}

bool stepper_step_together(size_t n, const stepper_turn turns[], void *memory) {
    stepper *first = turns[0].stepper;
    size_t nq = (size_t)dyn_model_nq(first->model);
    bool has_control = stepper_options(first)->control != DYN_CONTROL_NONE;
    step_rows r = divide(memory, n, nq, first->nv);
    dyn_error error;
    for (size_t i = 0; i < n; i++) {
        load_row(&turns[i], i, nq, has_control, &r);
    }
    const dyn_step_input acting =
        DYN_STEP_INPUT_INIT(.tau = r.tau, .q_ref = has_control ? r.q_ref : NULL, .v_ref = has_control ? r.v_ref : NULL,
                            .a_ref = has_control ? r.a_ref : NULL);
    if (dyn_simulator_step(first->simulator, n, &acting, r.q, r.v, r.applied, r.results, &error) != DYN_OK) {
        for (size_t i = 0; i < n; i++) {
            *turns[i].generator = r.generators[i];
        }
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        store_row(&turns[i], i, nq, &r);
    }
    return true;
}

/* ---- after a step ------------------------------------------------------------------------------------------------ */

int stepper_closure(stepper *s, double time, const double *q, double *closure_error) {
    int worst = -1;
    *closure_error = 0;
    if (dyn_model_constraint_rows(s->model) == 0 ||
        dyn_workspace_set_time(dyn_simulator_workspace(s->simulator), time, NULL) != DYN_OK ||
        dyn_constraint_rows(dyn_simulator_model(s->simulator), dyn_simulator_workspace(s->simulator), 1, q, NULL, NULL,
                            NULL, s->closure_errors, NULL) != DYN_OK) {
        return worst;
    }
    for (int i = 0; i < dyn_model_constraint_count(s->model); i++) {
        const dyn_constraint *c = dyn_model_constraint(s->model, i);
        for (int r = c->first_row; r < c->first_row + c->row_count; r++) {
            double size = fabs(s->closure_errors[r]);
            if (worst < 0 || size > *closure_error) {
                worst = i, *closure_error = size;
            }
        }
    }
    return worst;
}

int stepper_limit(stepper *s, const double *q) {
    while (s->next_limited < s->limited_count) {
        limited_joint *l = &s->limited[s->next_limited++];
        double value = q[l->q_index];
        bool is_at_limit = value <= l->lower || value >= l->upper || s->result.hit_joint == l->joint + 1;
        bool is_news = is_at_limit && l->quiet == 0;
        l->quiet = is_at_limit ? s->quiet_steps : l->quiet > 0 ? l->quiet - 1 : 0;
        if (is_news) {
            return l->joint;
        }
    }
    return -1;
}
