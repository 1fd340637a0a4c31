/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How a robot moves forward in time.
 */
#include "stepping.h"

Dynamics__V1__Stepping *stepping_fill(stepping_message *message, const dyn_client_stepping *from,
                                      Dynamics__V1__Vector3 *gravity) {
    if (from == NULL && gravity == NULL)
        return NULL;
    static const dyn_client_stepping standard = {0};
    const dyn_client_stepping *s = from != NULL ? from : &standard;
    Dynamics__V1__Stepping *to = &message->stepping;
    dynamics__v1__stepping__init(to);
    dynamics__v1__controller__init(&message->controller);
    to->integrator = (Dynamics__V1__Integrator)s->integrator;
    to->step = s->step;
    to->substeps = s->substeps;
    to->gravity = gravity;
    to->ignore_damping = s->ignore_damping;
    to->ignore_friction = s->ignore_friction;
    to->ignore_effort_limits = s->ignore_effort_limits;
    to->friction_velocity = s->friction_velocity;
    to->stop = (Dynamics__V1__JointStop)s->stop;
    to->restitution = s->restitution;
    to->stop_stiffness = s->stop_stiffness;
    to->stop_damping = s->stop_damping;
    to->velocity_bound = s->velocity_bound;
    to->compiled = (Dynamics__V1__CompiledSteps)s->compiled;
    message->controller.law = (Dynamics__V1__ControlLaw)s->law;
    message->controller.n_kp = s->kp != NULL ? s->gain_count : 0;
    message->controller.kp = (double *)s->kp;
    message->controller.n_kd = s->kd != NULL ? s->gain_count : 0;
    message->controller.kd = (double *)s->kd;
    to->controller = &message->controller;
    return to;
}
