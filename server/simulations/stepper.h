/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Time integration of one robot: the library's step, with a disturbance and a check of the joint limits. All values are
 * in the model's order. Not thread-safe.
 */
#ifndef SERVER_SIMULATIONS_STEPPER_H
#define SERVER_SIMULATIONS_STEPPER_H

#include <dynamics/payload.h>
#include <dynamics/simulation.h>

#include "simulations/disturbance.h"

/* External wrenches on the robot, constant in their reference frames. */
enum { STEPPER_FORCES = 64 };

typedef struct stepper_forces {
    size_t count;
    struct {
        int frame;
        dyn_reference_frame reference_frame;
        double wrench[6]; /* (n; f), N m and N */
    } force[STEPPER_FORCES];
} stepper_forces;

/* Motion of the base, as in dyn_base_motion. */
typedef struct stepper_base {
    bool is_set; /* false: it rests, since no request has set it */
    double twist[6], acceleration[6];
} stepper_base;

/* Input of a step: forces, the reference of the controller, external forces, and the motion of the base. */
typedef struct stepper_input {
    double *tau;   /* nv */
    double *q_ref; /* nq */
    double *v_ref; /* nv */
    double *a_ref; /* nv */
    stepper_forces *forces;
    stepper_base *base;
    double time; /* s, at the start of the step */
} stepper_input;

typedef struct stepper stepper;

/* Lists forces in the form of the library, in the caller's memory. They apply to all samples. */
dyn_external_forces stepper_list_forces(const stepper_forces *forces, dyn_external_force list[STEPPER_FORCES]);

/* Options of a stepper. The arrays are copied; `compiled` must outlive the stepper. */
typedef struct stepper_setup {
    const dyn_simulation_options *options;
    const dyn_compiled *compiled; /* compiled algorithms for the steps; NULL: the library's kernels */
    const double *deviation;      /* standard deviations of the disturbance, nv; NULL: none */
    size_t payload_count;
    const dyn_payload *payloads; /* expressed in the frames of their links */
} stepper_setup;

/* Creates a stepper. Errors are as in dyn_simulator_create, dyn_simulator_use_compiled and dyn_simulator_load. The
 * model must outlive the stepper. */
dyn_status stepper_create(const dyn_model *model, const stepper_setup *setup, dyn_error *error, stepper **result);
void stepper_free(stepper *s);

/* Sets the deflections of friction with bristles to zero, for a state that does not follow from the last one. */
void stepper_release_bristles(stepper *s);

/* Returns the deflections of friction with bristles, which live as long as the stepper, and sets their number. */
double *stepper_bristles(const stepper *s, size_t *count);

/* Returns the options, with gains that live as long as the stepper. */
const dyn_simulation_options *stepper_options(const stepper *s);

/* Returns the standard deviations of the disturbance, nv, or NULL if there is none. */
const double *stepper_deviation(const stepper *s);

/* Returns whether compiled algorithms compute the steps. */
bool stepper_is_compiled(const stepper *s);

/* Advances (q, v) by one step; tau receives the applied forces. Returns false when the robot diverges: then q and v are
 * unchanged, and `error` holds the reason. */
bool stepper_step(stepper *s, const stepper_input *input, disturbance *generator, double *q, double *v, double *tau,
                  dyn_error *error);

/* A robot that steps together with others: the arguments of stepper_step. */
typedef struct stepper_turn {
    stepper *stepper;
    const stepper_input *input;
    disturbance *generator;
    double *q, *v, *tau;
} stepper_turn;

/* Returns whether robots can step together that have this model and these options: none of them has contacts,
 * constraints or bristles. */
bool stepper_is_joinable(const stepper *s);

/* Returns whether an input is one for a step together: without external forces and a moving base. */
bool stepper_input_is_joinable(const stepper_input *input);

/* Returns the bytes of memory that stepper_step_together needs for n robots. */
size_t stepper_memory(const stepper *s, size_t n);

/* Advances n robots of equal models, options, payloads and compiled code by one step, in lanes. Each has the same bits
 * as alone. stepper_failure reports those that diverge, whose q and v are unchanged. Returns false if no robot has
 * moved, because an input is no finite number: each of them must step alone. */
bool stepper_step_together(size_t n, const stepper_turn turns[], void *memory);

/* Returns whether the robot diverged in the last step, and writes the reason to `error`. */
bool stepper_failure(const stepper *s, dyn_error *error);

/* Returns the constraint of the model with the largest closure error at q and the time in s, and stores that error, m
 * or rad. Returns -1, and stores 0, for a model without constraints. */
int stepper_closure(stepper *s, double time, const double *q, double *closure_error);

/* State of the contact surfaces of a model after a step: `count` of them, with 3 forces, a gap and a slip each. */
typedef struct stepper_contacts {
    size_t count;
    double *forces, *gaps, *slips;
    double residual;
} stepper_contacts;

/* Returns the contacts of the last step; zeros before it. They live until the next step. */
stepper_contacts stepper_contacts_of(const stepper *s);

/* Returns the next joint that reached or passed a limit in the last step, after which the state is q, or -1 if there
 * are no more. A joint is reported again after it was within its limits for a tenth of a second. */
int stepper_limit(stepper *s, const double *q);

#endif
