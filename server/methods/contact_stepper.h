/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One step of a model with contact surfaces, for the quantities of contacts: the impulses of the contacts in it, and
 * the mean acceleration a = (v' - v) / h, where v' is the velocity after a step h of the semi-implicit method, as of a
 * rollout.
 */
#ifndef SERVER_METHODS_CONTACT_STEPPER_H
#define SERVER_METHODS_CONTACT_STEPPER_H

#include <dynamics/rollout.h>

#include "methods/batch.h"

/* Simulators of a worker (batch.simulations): for steps, and for impacts, in which stops of joints strike, too. */
enum { CONTACT_STEP, CONTACT_IMPACT };

/* Resources of one thread for such steps. */
typedef struct contact_stepper {
    dyn_simulator *simulator, *impact; /* NULL: not needed */
    double time;                       /* s, of the states */
    dyn_signal_force *forces;          /* one for each external force of the batch */
    dyn_rollout_result *results;       /* of the samples of a block */
} contact_stepper;

/* Block of samples in the model's order. */
typedef struct contact_states {
    size_t count;
    const double *q, *v, *tau;         /* v, tau NULL: zeros */
    const dyn_external_forces *forces; /* NULL: none */
    const dyn_base_motion *base;       /* rows of 12, twist and acceleration (batch_base); NULL: it rests */
} contact_states;

/* Results of a block for s contact surfaces, rows of each. */
typedef struct contact_results {
    double *a;                         /* nv */
    double *forces, *normals, *points; /* s x 3 */
    double *gaps, *slips;              /* s */
    double *solution;                  /* 2: residual, iterations */
} contact_results;

/* Checks the length of the step, in the field `contact_step`, and the precision of the batch. Returns false when the
 * call has ended. */
bool contact_stepper_check(batch *b, double length);

/* Sets the options of the step: no stops, no controller, the passive forces that the query counts, and the motion of
 * the base; and those of an impact. */
void contact_stepper_options(const batch *b, double length, dyn_simulation_options options[BATCH_SIMULATORS]);

/* Returns whether the workers of the batch have simulators. */
bool contact_stepper_is_used(const batch *b);

/* Returns the memory that a stepper needs for blocks of `samples`, in bytes: a multiple of sizeof(double). */
size_t contact_stepper_size(const batch *b, size_t samples);

/* Lays out a stepper in memory of that size, with the simulator of the worker (batch.simulation). */
contact_stepper contact_stepper_at(const batch *b, const batch_worker *worker, void *memory);

/* Computes an impact, with the restitution of stops. `to` has room for the velocities, and for the impulses. Errors:
 * those of dyn_simulator_impact. */
dyn_status contact_stepper_strike(const contact_stepper *s, const contact_states *states, double restitution,
                                  const dyn_contact_impact *to, dyn_error *error);

/* Computes the results. Errors: DYN_FAILED_PRECONDITION with the sample whose motion is not determined, and those of
 * dyn_rollout_run. */
dyn_status contact_stepper_run(const contact_stepper *s, const contact_states *states, const contact_results *to,
                               dyn_error *error);

#endif
