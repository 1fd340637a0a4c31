/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Merges the inertias of links into the body that carries them.
 */
#include "merge.h"

#include <string.h>

#include "placement.h"

void body_clear_inertia(body *b) {
    b->mass = 0;
    memset(b->first_moment, 0, sizeof b->first_moment);
    memset(b->inertia, 0, sizeof b->inertia);
    memset(b->moments, 0, sizeof b->moments);
}

void body_merge(body *b, const dyn_inertia *link, const dyn_pose *place) {
    mass_properties sum = {.mass = b->mass};
    memcpy(sum.first_moment, b->first_moment, sizeof sum.first_moment);
    memcpy(sum.inertia, b->inertia, sizeof sum.inertia);
    mass_properties added = link_mass_properties(link, place);
    mass_properties_add(&sum, &added);
    b->mass = sum.mass;
    memcpy(b->first_moment, sum.first_moment, sizeof sum.first_moment);
    memcpy(b->inertia, sum.inertia, sizeof sum.inertia);
    const double *I = sum.inertia, half_trace = 0.5 * (I[0] + I[3] + I[5]);
    const double moments[6] = {half_trace - I[0], -I[1], -I[2], half_trace - I[3], -I[4], half_trace - I[5]};
    memcpy(b->moments, moments, sizeof moments);
}
