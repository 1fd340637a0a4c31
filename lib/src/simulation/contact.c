/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Contacts in a simulation: the semi-implicit step finds the impulses that the contacts exert in it (contacts.h).
 */
#include "simulator.h"

/* Adds the response of the contacts to packed accelerations (step_constraint). `context` is the simulator. */
static void apply(void *context, double fraction, const void *q, const void *v, const void *diagonal, void *a) {
    (void)fraction;
    dyn_simulator *s = context;
    const contact_step step = {s->step.dt, s->options.rest_velocity, s->options.contact_sweeps};
    contacts_apply(&s->contacts.contacts, s->contacts.block, &step, q, v, diagonal, a);
}

void simulator_choose_contacts(dyn_simulator *s) {
    if (s->contacts.workspace) {
        contacts_choose(s->model, s->contacts.workspace, &s->contacts.contacts);
        s->step.constraint = (step_constraint){apply, s};
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
