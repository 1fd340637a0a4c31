/* SPDX-License-Identifier: BSD-2-Clause */
#include "round_constants.h"

static void round_numbers(const double *from, int count, float *to) {
    for (int k = 0; k < count; k++) {
        to[k] = (float)from[k];
    }
}

static void round_grouping(const mass_grouping *from, rounded_grouping *to) {
    to->mass = (float)from->mass;
    round_numbers(from->first_moment, 3, to->first_moment);
    round_numbers(from->moments, 6, to->moments);
}

void round_constants(body *bodies, int count) {
    for (int i = 0; i < count; i++) {
        const body *b = &bodies[i];
        rounded_body *r = &bodies[i].rounded;
        round_numbers(b->tilt, 2, r->tilt);
        round_numbers(b->position, 3, r->position);
        round_grouping(&b->grouped, &r->grouped);
        round_grouping(&b->carried, &r->carried);
        round_numbers(b->first_moment, 3, r->first_moment);
        round_numbers(b->inertia, 6, r->inertia);
        round_numbers(b->moments, 6, r->moments);
        round_numbers(b->rotation, 9, r->rotation);
        round_numbers(b->rotor_couple, 3, r->rotor_couple);
        round_numbers(b->carried_inertia, 6, r->carried_inertia);
        r->reflected_inertia = (float)b->reflected_inertia;
        r->turn = (float)b->turn, r->mass = (float)b->mass;
        r->ratio = (float)b->ratio, r->offset = (float)b->offset, r->pitch = (float)b->pitch;
    }
}
