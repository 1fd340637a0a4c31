/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Contacts in a simulation: the semi-implicit step finds the impulses that the contacts exert in it (contacts.h).
 */
#include <math.h>

#include "../model/normal_form.h"
#include "simulator.h"

/* Adds the response of the contacts to packed accelerations. */
static void touch(dyn_simulator *s, const void *q, const void *v, const void *diagonal, void *a) {
    const contact_step step = {
        .dt = s->step.dt, .rest_velocity = s->options.rest_velocity, .most_sweeps = s->options.contact_sweeps};
    contacts_apply(&s->contacts.contacts, s->contacts.block, &step, q, v, diagonal, a);
}

/* Adds the response of the constraints and contacts to packed accelerations (step_constraint). `context` is the
 * simulator. */
static void apply(void *context, double fraction, const void *q, const void *v, const void *diagonal, void *a) {
    dyn_simulator *s = context;
    if (s->contacts.next.apply) {
        s->contacts.next.apply(s->contacts.next.context, fraction, q, v, diagonal, a);
    }
    touch(s, q, v, diagonal, a);
}

/* Computes packed accelerations with the constraints and contacts of the model (step_constraint). */
static void accelerate(void *context, double fraction, const packed_inputs *in, const void *diagonal, void *pivots,
                       void *a) {
    dyn_simulator *s = context;
    s->contacts.next.accelerate(s->contacts.next.context, fraction, in, diagonal, pivots, a);
    touch(s, in->q, in->v, diagonal, a);
}

/* Lists the joints with limits or dry friction whose impulses are found with those of the contacts. Returns their
 * number. */
static int list_joints(dyn_simulator *s) {
    const dyn_simulation_options *o = &s->options;
    int count = 0;
    for (int k = 0; k < s->model->nv && o->solve_joints; k++) {
        contact_joint joint = {.v = k, .lower = -INFINITY, .upper = INFINITY, .restitution = o->restitution};
        joint.friction = s->joints.has_friction && !o->ignore_friction ? s->joints.friction[k] : 0;
        for (int i = 0; i < s->joints.range_count && o->stop == DYN_JOINT_STOP_RIGID; i++) {
            const joint_range *range = &s->joints.ranges[i];
            if (range->v_index == k) {
                joint.q = range->q_index;
                joint.lower = fmax(joint.lower, range->lower), joint.upper = fmin(joint.upper, range->upper);
            }
        }
        if (joint.friction > 0 || isfinite(joint.lower) || isfinite(joint.upper)) {
            s->contacts.joints[count++] = joint;
        }
    }
    return count;
}

void simulator_choose_contacts(dyn_simulator *s) {
    if (s->contacts.workspace) {
        s->contacts.contacts.law = s->options.contact_law;
        contacts_choose(s->model, s->contacts.workspace, list_joints(s), s->contacts.joints, &s->contacts.contacts);
        s->contacts.next = s->step.constraint;
        s->step.constraint = (step_constraint){apply, s, s->contacts.next.accelerate ? accelerate : NULL};
    }
}

void simulator_report_contacts(const dyn_simulator *s, const simulated_step *step) {
    for (size_t l = 0; l < step->block.count; l++) {
        const contact_course *course = &s->contacts.contacts.lanes[l].course;
        step->results[l].contact_residual = course->residual;
        step->results[l].contact_sweeps = course->sweeps;
    }
}

bool dyn_simulator_contact(const dyn_simulator *simulator, int surface, dyn_contact_state *state) {
    const contacts *c = &simulator->contacts.contacts;
    bool is_there = simulator->contacts.workspace && surface >= 0 && surface < c->surface_count;
    if (is_there) {
        const contact_lane *lane = &c->lanes[0];
        const double *f = lane->force + 3 * surface;
        *state = (dyn_contact_state){{f[0], f[1], f[2]}, lane->gap[surface], lane->slip[surface]};
    }
    return is_there;
}
