/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Computes forward dynamics with contacts: a = (v' - v) / h, where v' is the velocity after one step h of the
 * semi-implicit method, as of a rollout.
 */
#include "methods/contact_dynamics.h"

#include <stdio.h>

#include <dynamics/contact.h>
#include <dynamics/rollout.h>

#include "methods/constrained.h"
#include "methods/methods.h"
#include "methods/motion.h"
#include "methods/passive_forces.h"

static const double SHORTEST_STEP = 1e-6, LONGEST_STEP = 1;

/* Inputs and results of a batch, in the model's order. */
typedef struct contact_task {
    dyn_simulation_options options;
    size_t surfaces;
    const double *v, *tau; /* NULL: zeros */
    double *a, *forces, *gaps, *slips;
    dyn_rollout_result *results;
} contact_task;

/* Scratch memory of one thread. The external forces follow it. */
typedef struct contact_scratch {
    dyn_simulator *simulator;
    dyn_signal_force forces[];
} contact_scratch;

/* ---- the question ------------------------------------------------------------------------------------------------ */

static bool check(batch *b, const Dynamics__V1__ForwardDynamicsRequest *r, const contact_task *t) {
    if (t->surfaces == 0) {
        batch_blame(b, "contact_step");
        call_fail(b->call, REASON_UNUSED_FIELD, "model \"%s\" has no contact surfaces; leave it out", b->entry->name);
        return false;
    }
    if (!(r->contact_step >= SHORTEST_STEP && r->contact_step <= LONGEST_STEP)) {
        batch_blame(b, "contact_step");
        call_fail(b->call, REASON_INVALID_VALUE, "contact_step is %g s; pass %g to %g, or nothing for no contacts",
                  r->contact_step, SHORTEST_STEP, LONGEST_STEP);
        return false;
    }
    if (b->values.precision != DYN_PRECISION_DOUBLE) {
        batch_blame(b, "query.precision");
        call_fail(b->call, REASON_CONFLICTING_FIELDS, "contacts are computed in double precision; leave precision out");
        return false;
    }
    return constrained_check_absent(b, r) && batch_check(b, "v", r->n_v) && batch_check(b, "tau", r->n_tau);
}

/* Returns the options of the step: no stops, no controller, and the passive forces that the request counts. */
static dyn_simulation_options step_options(const batch *b, double length) {
    dyn_simulation_options options = DYN_SIMULATION_OPTIONS_INIT();
    const dyn_passive_parts *passive = &b->values.passive;
    options.step_length = length;
    options.stop = DYN_JOINT_STOP_NONE;
    options.ignore_damping = !passive->damping;
    options.ignore_friction = !passive->friction;
    options.ignore_springs = !passive->springs;
    options.ignore_gear_losses = !passive->gear_losses;
    options.friction_velocity = passive->friction_velocity > 0 ? passive->friction_velocity : options.friction_velocity;
    options.ignore_effort_limits = true;
    options.has_gravity = b->values.gravity != NULL;
    for (int k = 0; b->values.gravity && k < 3; k++) {
        options.gravity[k] = b->values.gravity[k];
    }
    return options;
}

/* ---- the work ---------------------------------------------------------------------------------------------------- */

static dyn_status open_simulator(const batch *b, const contact_task *t, contact_scratch *scratch, dyn_error *error) {
    if (scratch->simulator) {
        return DYN_OK;
    }
    dyn_status status = dyn_simulator_create(b->model, &t->options, &scratch->simulator, error);
    if (status == DYN_OK && b->values.payload_count > 0) {
        status = dyn_simulator_load(scratch->simulator, b->values.payload_count, b->values.payloads, error);
    }
    return status;
}

/* Replaces the velocities after the step by mean accelerations. */
static dyn_status find_accelerations(const batch *b, const contact_task *t, size_t first, size_t count,
                                     dyn_error *error) {
    for (size_t i = first; i < first + count; i++) {
        const double *v = motion_rows(t->v, b->nv, i);
        double *a = t->a + i * b->nv;
        for (size_t k = 0; k < b->nv; k++) {
            a[k] = (a[k] - (v ? v[k] : 0)) / t->options.step_length;
        }
        if (t->results[i].status != DYN_SAMPLE_STATUS_RUNNING) {
            *error = (dyn_error){.status = DYN_FAILED_PRECONDITION, .site = {.has_sample = true, .sample = i - first}};
            snprintf(error->message, sizeof error->message,
                     "the motion of joint %.80s is not determined: no inertia resists it, or its velocity is too large",
                     dyn_model_joint(b->model, t->results[i].joint)->name);
            return DYN_FAILED_PRECONDITION;
        }
    }
    return DYN_OK;
}

static dyn_status step(const batch *b, const batch_worker *w, const void *context, size_t first, size_t count,
                       dyn_error *error) {
    const contact_task *t = context;
    contact_scratch *scratch = w->scratch;
    dyn_status status = open_simulator(b, t, scratch, error);
    if (status != DYN_OK) {
        return status;
    }
    for (size_t i = 0; i < b->force_count; i++) {
        const dyn_external_force *f = &b->forces[i];
        scratch->forces[i] =
            (dyn_signal_force){f->frame, f->reference_frame, {f->wrench + first * f->stride, f->stride, 0}};
    }
    const double *tau = motion_rows(t->tau, b->nv, first);
    const dyn_rollout rollout =
        DYN_ROLLOUT_INIT(.steps = 1, .q = b->q + first * b->nq, .v = motion_rows(t->v, b->nv, first),
                         .tau = {tau, b->nv, 0}, .forces = scratch->forces, .force_count = b->force_count);
    const dyn_rollout_output out = DYN_ROLLOUT_OUTPUT_INIT(.v = t->a + first * b->nv, .results = t->results + first,
                                                           .contact_forces = t->forces + 3 * t->surfaces * first,
                                                           .contact_gaps = t->gaps + t->surfaces * first,
                                                           .contact_slips = t->slips + t->surfaces * first);
    status = dyn_rollout_run(scratch->simulator, count, &rollout, &out, error);
    return status == DYN_OK ? find_accelerations(b, t, first, count, error) : status;
}

static void free_simulators(const batch *b) {
    for (unsigned i = 0; i < b->worker_count; i++) {
        const contact_scratch *scratch = b->workers[i].scratch;
        dyn_simulator_free(scratch ? scratch->simulator : NULL);
    }
}

/* ---- the answer -------------------------------------------------------------------------------------------------- */

static Dynamics__V1__ContactSolution *write_solution(batch *b, const contact_task *t) {
    Dynamics__V1__ContactSolution *to = call_allocate(b->call, 1, sizeof *to);
    double *residuals = batch_output(b, 1);
    uint64_t *sweeps = call_allocate(b->call, b->n, sizeof *sweeps);
    if (call_has_ended(b->call)) {
        return NULL;
    }
    dynamics__v1__contact_solution__init(to);
    to->n_forces = 3 * b->n * t->surfaces, to->forces = t->forces;
    to->n_gaps = b->n * t->surfaces, to->gaps = t->gaps;
    to->n_slips = b->n * t->surfaces, to->slips = t->slips;
    for (size_t i = 0; i < b->n; i++) {
        sweeps[i] = (uint64_t)t->results[i].contact_sweeps;
        residuals[i] = t->results[i].contact_residual;
    }
    to->n_sweeps = to->n_residuals = b->n;
    to->sweeps = sweeps;
    to->residuals = residuals;
    batch_mark_rows(b, 3 * t->surfaces, t->forces);
    batch_mark_rows(b, t->surfaces, t->gaps);
    batch_mark_rows(b, t->surfaces, t->slips);
    batch_mark_rows(b, 1, residuals);
    return to;
}

static bool fill_reply(batch *b, const contact_task *t) {
    batch_mark_rows(b, b->nv, t->a);
    Dynamics__V1__ForwardDynamicsReply *reply = create_forward_dynamics_reply(b->call);
    if (reply) {
        reply->samples = b->n;
        reply->n_a = b->n * b->nv;
        reply->a = batch_vectors(b, t->a);
        reply->contacts = write_solution(b, t);
        reply->passive_forces = passive_forces_write(b->call, &b->values.passive);
    }
    return reply != NULL;
}

bool contact_forward_dynamics(batch *b, const Dynamics__V1__ForwardDynamicsRequest *r) {
    contact_task t = {.surfaces = (size_t)dyn_model_contact_surface_count(b->model)};
    if (!check(b, r, &t)) {
        return false;
    }
    t.options = step_options(b, r->contact_step);
    batch_expect(b, b->nv + 5 * t.surfaces + 2);
    if (!batch_begin(b, 200 * (double)b->nv + 6000 * (double)t.surfaces)) {
        return false;
    }
    b->block_size = (size_t)dyn_lanes(DYN_PRECISION_DOUBLE);
    t.v = batch_input(b, r->n_v, r->v);
    t.tau = batch_input(b, r->n_tau, r->tau);
    t.a = batch_output(b, b->nv);
    t.forces = batch_output(b, 3 * t.surfaces);
    t.gaps = batch_output(b, t.surfaces);
    t.slips = batch_output(b, t.surfaces);
    t.results = call_allocate(b->call, b->n, sizeof *t.results);
    size_t scratch = sizeof(contact_scratch) + b->force_count * sizeof(dyn_signal_force);
    bool is_done = !call_has_ended(b->call) && batch_run(b, step, &t, scratch);
    free_simulators(b);
    return is_done && fill_reply(b, &t);
}
