/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One robot moved forward in time: the library's step, with a disturbance, and with a look at the joints' limits.
 * Everything is in the model's order. Not for two threads at once.
 */
#ifndef SERVER_SIMULATIONS_STEPPER_H
#define SERVER_SIMULATIONS_STEPPER_H

#include <dynamics/payload.h>
#include <dynamics/simulation.h>

#include "simulations/disturbance.h"

/* Wrenches of the environment, held in their frames. */
enum { STEPPER_FORCES = 64 };

typedef struct stepper_forces {
    size_t count;
    struct {
        int frame;
        dyn_reference_frame reference_frame;
        double wrench[6]; /* (n; f), N m and N */
    } force[STEPPER_FORCES];
} stepper_forces;

/* Input of a step: forces, the reference of the controller, and external forces. */
typedef struct stepper_input {
    double *tau; /* nv */
    double *q;   /* nq */
    double *v;   /* nv */
    double *a;   /* nv */
    stepper_forces *forces;
} stepper_input;

typedef struct stepper stepper;

/* Lists forces as the library takes them, in memory of the caller: the same for all samples. */
dyn_external_forces stepper_list_forces(const stepper_forces *forces, dyn_external_force list[STEPPER_FORCES]);

/* How a robot steps. The arrays are copied; `compiled` must outlive the stepper. */
typedef struct stepper_setup {
    const dyn_simulation_options *options;
    const dyn_compiled *compiled; /* what computes the steps where it can; NULL: the library's own kernels */
    const double *deviation;      /* of the disturbance, nv standard deviations; NULL: none */
    size_t payload_count;
    const dyn_payload *payloads; /* in the frames of their links */
} stepper_setup;

/* Errors as in dyn_simulator_create and dyn_simulator_load. The model must outlive the stepper. */
dyn_status stepper_create(const dyn_model *model, const stepper_setup *setup, dyn_error *error, stepper **result);
void stepper_free(stepper *s);

/* The options, with gains that live as long as it does, and the deviations (NULL: none). */
const dyn_simulation_options *stepper_options(const stepper *s);
const double *stepper_deviation(const stepper *s);

/* Returns whether it steps with what was compiled. */
bool stepper_is_compiled(const stepper *s);

/* Moves (q, v) by one step; tau receives the forces that acted. False when the robot diverged: then q and v are as
 * before, and `error` tells why. */
bool stepper_step(stepper *s, const stepper_input *input, disturbance *generator, double *q, double *v, double *tau,
                  dyn_error *error);

/* The next joint that the last step brought to a limit or through it; -1: no more. A joint is named again after it was
 * within its limits for a tenth of a second. */
int stepper_limit(stepper *s, const double *q);

#endif
