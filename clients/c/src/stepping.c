/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Converts the public stepping options to the protocol's message.
 */
#include "stepping.h"

#include "error.h"
#include "sized.h"

dyn_client_status stepping_fill(const dyn_client_stepping *options, stepping_message *message,
                                Dynamics__V1__Stepping **filled, dyn_client_error *error) {
    dyn_client_stepping known;
    const dyn_client_stepping *from = &known;
    *filled = NULL;
    if (!options) {
        return DYN_CLIENT_OK;
    }
    dyn_client_status status = sized_read("stepping", options, sizeof known, &known, error);
    if (status != DYN_CLIENT_OK) {
        return status;
    }
    if (from->substeps > UINT32_MAX) {
        return fail(error, DYN_CLIENT_INVALID_ARGUMENT, "stepping.substeps",
                    "%zu substeps are more than any daemon allows", from->substeps);
    }
    Dynamics__V1__Stepping *to = &message->stepping;
    dynamics__v1__stepping__init(to);
    dynamics__v1__controller__init(&message->controller);
    to->integrator = (Dynamics__V1__Integrator)from->integrator;
    to->step_length = from->step_length;
    to->substeps = (uint32_t)from->substeps;
    to->ignore_damping = from->ignore_damping;
    to->ignore_friction = from->ignore_friction;
    to->ignore_springs = from->ignore_springs;
    to->ignore_gear_losses = from->ignore_gear_losses;
    to->solve_joints = from->solve_joints;
    to->contact_law = (Dynamics__V1__ContactLaw)from->contact_law;
    to->n_brakes = from->brake_count;
    to->brakes = (char **)from->brakes;
    to->ignore_effort_limits = from->ignore_effort_limits;
    to->friction_velocity = from->friction_velocity;
    to->stop = (Dynamics__V1__JointStop)from->stop;
    to->restitution = from->restitution;
    if (from->spring_stop) {
        dynamics__v1__spring_stop__init(&message->spring_stop);
        message->spring_stop.stiffness = from->spring_stop->stiffness;
        message->spring_stop.damping = from->spring_stop->damping;
        to->spring_stop = &message->spring_stop;
    }
    if (from->loop_closure) {
        dynamics__v1__loop_closure__init(&message->loop_closure);
        message->loop_closure.stabilization = from->loop_closure->stabilization;
        message->loop_closure.projection = from->loop_closure->projection;
        to->loop_closure = &message->loop_closure;
    }
    to->velocity_bound = from->velocity_bound;
    to->compiled = (Dynamics__V1__CompiledSteps)from->compiled;
    message->controller.law = (Dynamics__V1__ControlLaw)from->law;
    message->controller.n_kp = from->kp ? from->gain_count : 0;
    message->controller.kp = (double *)from->kp;
    message->controller.n_kd = from->kd ? from->gain_count : 0;
    message->controller.kd = (double *)from->kd;
    to->controller = &message->controller;
    *filled = to;
    return DYN_CLIENT_OK;
}
