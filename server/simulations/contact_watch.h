/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Watch over the contact surfaces of a simulation: finds touchdowns, lift-offs and starts of slip in the contacts of
 * its steps. Not thread-safe.
 */
#ifndef SERVER_SIMULATIONS_CONTACT_WATCH_H
#define SERVER_SIMULATIONS_CONTACT_WATCH_H

#include <stdint.h>

#include "simulations/stepper.h"

typedef enum contact_change { CONTACT_TOUCHDOWN, CONTACT_LIFT_OFF, CONTACT_SLIP } contact_change;

/* Change of the contact of one surface. */
typedef struct contact_event {
    contact_change change;
    int surface;
    uint64_t step;   /* at whose end it was seen: the first or the last one with a force, or the first that slips */
    double force[3]; /* mean force on the link in the last integration step of that step, in the world, N */
    double slip;     /* m/s */
} contact_event;

typedef struct contact_watch contact_watch;

/* Creates a watch over the surfaces of a model other than planes and height fields, for steps of `step_length` s.
 * Returns NULL when out of memory. */
contact_watch *contact_watch_create(const dyn_model *model, double step_length);
void contact_watch_free(contact_watch *w);

/* Forgets all contacts, for a state that does not follow from the last one. Publishes nothing. */
void contact_watch_clear(contact_watch *w);

/* Notes the contacts at the end of a step, of which contact_watch_next then finds the changes. */
void contact_watch_note(contact_watch *w, uint64_t step, const stepper_contacts *contacts);

/* Finds the next change of the last step that was noted. Returns false where there are no more. */
bool contact_watch_next(contact_watch *w, contact_event *event);

#endif
