/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds touchdowns, lift-offs and starts of slip. A foot that rocks changes its contacts in many steps in a row, so
 * that a contact counts as lifted only after a time without force, and as sticking only after a time without slip. */
#include "simulations/contact_watch.h"

#include <dynamics/contact.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Time without a force after which a contact has lifted off, and without slip after which it sticks, s. */
static const double LIFT_TIME = 0.01, STICK_TIME = 0.1;

/* Slip above which a contact slides, m/s. Soft contacts creep more slowly. */
static const double LEAST_SLIP = 0.01;

/* Surface that may touch planes. */
typedef struct watched_surface {
    int surface;
    bool touches, slides;
    uint64_t last_force, last_slip; /* steps at whose end it had a force, and slid */
    double force[3], slip;          /* of the step last_force */
} watched_surface;

struct contact_watch {
    uint64_t lift_steps, stick_steps;
    uint64_t step;
    stepper_contacts contacts;
    size_t count, next;
    watched_surface surfaces[];
};

static uint64_t steps_of(double time, double step_length) {
    return (uint64_t)fmin(fmax(ceil(time / step_length), 1), 1e9);
}

contact_watch *contact_watch_create(const dyn_model *model, double step_length) {
    const int surfaces = dyn_model_contact_surface_count(model);
    contact_watch *w = calloc(1, sizeof *w + (size_t)surfaces * sizeof *w->surfaces);
    if (!w) {
        return NULL;
    }
    w->lift_steps = steps_of(LIFT_TIME, step_length);
    w->stick_steps = steps_of(STICK_TIME, step_length);
    for (int i = 0; i < surfaces; i++) {
        const dyn_contact_shape shape = dyn_model_contact_surface(model, i)->shape;
        if (shape != DYN_CONTACT_SHAPE_PLANE && shape != DYN_CONTACT_SHAPE_HEIGHT_FIELD) {
            w->surfaces[w->count++].surface = i;
        }
    }
    w->next = w->count;
    return w;
}

void contact_watch_free(contact_watch *w) {
    free(w);
}

void contact_watch_clear(contact_watch *w) {
    for (size_t i = 0; i < w->count; i++) {
        w->surfaces[i] = (watched_surface){.surface = w->surfaces[i].surface};
    }
    w->next = w->count;
}

void contact_watch_note(contact_watch *w, uint64_t step, const stepper_contacts *contacts) {
    w->step = step;
    w->contacts = *contacts;
    w->next = 0;
}

static void report(const watched_surface *s, contact_change change, uint64_t step, contact_event *event) {
    *event = (contact_event){.change = change, .surface = s->surface, .step = step, .slip = s->slip};
    memcpy(event->force, s->force, sizeof s->force);
}

/* Finds a change of a surface with a force. A touchdown comes before the slip of the same step. */
static bool find_touching(const contact_watch *w, watched_surface *s, contact_event *event) {
    const bool touched = s->touches, slips = w->contacts.slips[s->surface] > LEAST_SLIP;
    memcpy(s->force, w->contacts.forces + 3 * s->surface, sizeof s->force);
    s->slip = w->contacts.slips[s->surface];
    s->last_force = w->step;
    s->touches = true;
    if (!touched) {
        report(s, CONTACT_TOUCHDOWN, w->step, event);
        return true;
    }
    const bool slid = s->slides;
    s->last_slip = slips ? w->step : s->last_slip;
    s->slides = slips || (slid && w->step - s->last_slip < w->stick_steps);
    if (slips && !slid) {
        report(s, CONTACT_SLIP, w->step, event);
    }
    return slips && !slid;
}

bool contact_watch_next(contact_watch *w, contact_event *event) {
    while (w->next < w->count) {
        watched_surface *s = &w->surfaces[w->next];
        const double *f = w->contacts.forces + 3 * s->surface;
        if (f[0] != 0 || f[1] != 0 || f[2] != 0) {
            const bool is_new = find_touching(w, s, event);
            w->next += !(is_new && event->change == CONTACT_TOUCHDOWN);
            if (is_new) {
                return true;
            }
            continue;
        }
        w->next++;
        if (s->touches && w->step - s->last_force >= w->lift_steps) {
            report(s, CONTACT_LIFT_OFF, s->last_force, event);
            s->touches = s->slides = false;
            return true;
        }
    }
    return false;
}
