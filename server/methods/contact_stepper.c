/* SPDX-License-Identifier: BSD-2-Clause */
#include "methods/contact_stepper.h"

#include <stdio.h>
#include <string.h>

#include <dynamics/contact.h>

#include "methods/motion.h"

static const double SHORTEST_STEP = 1e-6, LONGEST_STEP = 1;

bool contact_stepper_check(batch *b, double length) {
    if (!(length >= SHORTEST_STEP && length <= LONGEST_STEP)) {
        batch_blame(b, "contact_step");
        call_fail(b->call, REASON_INVALID_VALUE, "contact_step is %g s; pass %g to %g", length, SHORTEST_STEP,
                  LONGEST_STEP);
        return false;
    }
    if (b->values.precision != DYN_PRECISION_DOUBLE) {
        batch_blame(b, "query.precision");
        call_fail(b->call, REASON_CONFLICTING_FIELDS, "contacts are computed in double precision; leave precision out");
        return false;
    }
    return true;
}

void contact_stepper_options(const batch *b, double length, dyn_simulation_options all[BATCH_SIMULATORS]) {
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
    options.base_may_move = b->query->base_motion != NULL;
    options.has_gravity = b->values.gravity != NULL;
    for (int k = 0; b->values.gravity && k < 3; k++) {
        options.gravity[k] = b->values.gravity[k];
    }
    all[CONTACT_STEP] = all[CONTACT_IMPACT] = options;
    all[CONTACT_IMPACT].stop = DYN_JOINT_STOP_RIGID;
    all[CONTACT_IMPACT].solve_joints = true;
}

bool contact_stepper_is_used(const batch *b) {
    return b->simulations[CONTACT_STEP] || b->simulations[CONTACT_IMPACT];
}

dyn_status contact_stepper_strike(const contact_stepper *s, const contact_states *states, double restitution,
                                  const dyn_contact_impact *to, dyn_error *error) {
    size_t entries = states->count * (size_t)dyn_model_nv(dyn_simulator_model(s->impact));
    if (states->v) {
        memcpy(to->v, states->v, entries * sizeof *to->v);
    } else {
        memset(to->v, 0, entries * sizeof *to->v);
    }
    return dyn_simulator_impact(s->impact, states->count, states->q, to->v, restitution, to, error);
}

size_t contact_stepper_size(const batch *b, size_t samples) {
    return b->force_count * sizeof(dyn_signal_force) + samples * sizeof(dyn_rollout_result);
}

contact_stepper contact_stepper_at(const batch *b, const batch_worker *worker, void *memory) {
    dyn_signal_force *forces = memory;
    return (contact_stepper){worker->simulators[CONTACT_STEP], worker->simulators[CONTACT_IMPACT], b->values.time,
                             forces, (void *)(forces + b->force_count)};
}

/* Replaces the velocities after the step by mean accelerations. Refuses a motion that is not determined. */
static dyn_status find_accelerations(const contact_stepper *s, const contact_states *states, double *a,
                                     dyn_error *error) {
    const dyn_model *model = dyn_simulator_model(s->simulator);
    size_t nv = (size_t)dyn_model_nv(model);
    for (size_t i = 0; i < states->count; i++) {
        const double *v = motion_rows(states->v, nv, i);
        for (size_t k = 0; k < nv; k++) {
            a[i * nv + k] = (a[i * nv + k] - (v ? v[k] : 0)) / dyn_simulator_options(s->simulator)->step_length;
        }
        if (s->results[i].status != DYN_SAMPLE_STATUS_RUNNING) {
            *error = (dyn_error){.status = DYN_FAILED_PRECONDITION, .site = {.has_sample = true, .sample = i}};
            snprintf(error->message, sizeof error->message,
                     "the motion of joint %.80s is not determined: no inertia resists it, or its velocity is too large",
                     dyn_model_joint(model, s->results[i].joint)->name);
            return DYN_FAILED_PRECONDITION;
        }
    }
    return DYN_OK;
}

dyn_status contact_stepper_run(const contact_stepper *s, const contact_states *states, const contact_results *to,
                               dyn_error *error) {
    size_t nv = (size_t)dyn_model_nv(dyn_simulator_model(s->simulator));
    size_t force_count = states->forces ? states->forces->count : 0;
    for (size_t i = 0; i < force_count; i++) {
        const dyn_external_force *f = &states->forces->force[i];
        s->forces[i] = (dyn_signal_force){f->frame, f->reference_frame, {f->wrench, f->stride, 0}};
    }
    const dyn_base_motion *base = states->base;
    const dyn_rollout rollout =
        DYN_ROLLOUT_INIT(.steps = 1, .q = states->q, .v = states->v, .tau = {states->tau, nv, 0}, .forces = s->forces,
                         .force_count = force_count, .base = {base ? base->twist : NULL, base ? base->stride : 0, 0},
                         .start_time = s->time);
    const dyn_rollout_output out =
        DYN_ROLLOUT_OUTPUT_INIT(.v = to->a, .results = s->results, .contact_forces = to->forces,
                                .contact_gaps = to->gaps, .contact_slips = to->slips, .contact_normals = to->normals,
                                .contact_points = to->points);
    dyn_status status = dyn_rollout_run(s->simulator, states->count, &rollout, &out, error);
    for (size_t i = 0; status == DYN_OK && i < states->count; i++) {
        to->solution[2 * i] = s->results[i].contact_residual;
        to->solution[2 * i + 1] = s->results[i].contact_sweeps;
    }
    return status == DYN_OK ? find_accelerations(s, states, to->a, error) : status;
}
