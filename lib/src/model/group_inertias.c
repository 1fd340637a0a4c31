/* SPDX-License-Identifier: BSD-2-Clause */
#include "group_inertias.h"

#include <math.h>
#include <string.h>

/* Returns the inertial parameters of a body without those of other bodies. */
static mass_grouping ungrouped(const body *b) {
    mass_grouping g = {.mass = b->mass};
    memcpy(g.first_moment, b->first_moment, sizeof g.first_moment);
    memcpy(g.moments, b->moments, sizeof g.moments);
    return g;
}

/* Moves the grouped mass, first moment and second moment on the axis of a revolute joint from its body to the parent,
 * or drops them where the parent is NULL: the world. */
static void pass_to_parent(body *b, mass_grouping *parent) {
    mass_grouping *g = &b->grouped;
    const double *r = b->position, u[3] = {b->rotation[2], b->rotation[5], b->rotation[8]};
    double m = g->mass, h = g->first_moment[2], J = g->moments[5];
    g->mass = g->first_moment[2] = g->moments[5] = 0;
    if (!parent) {
        return;
    }
    parent->mass += m;
    for (int i = 0, k = 0; i < 3; i++) {
        parent->first_moment[i] += m * r[i] + h * u[i];
        for (int j = i; j < 3; j++, k++) {
            parent->moments[k] += m * r[i] * r[j] + h * (r[i] * u[j] + u[i] * r[j]) + J * u[i] * u[j];
        }
    }
}

static bool is_finite(const mass_grouping *g) {
    double sum = fabs(g->mass);
    for (int k = 0; k < 3; k++) {
        sum += fabs(g->first_moment[k]) + fabs(g->moments[k]) + fabs(g->moments[3 + k]);
    }
    return isfinite(sum);
}

void group_inertias(body *bodies, int count) {
    bool finite = true;
    for (int i = 0; i < count; i++) {
        bodies[i].grouped = ungrouped(&bodies[i]);
    }
    for (int i = count - 1; i >= 0; i--) {
        if (bodies[i].motion == MOTION_REVOLUTE) {
            pass_to_parent(&bodies[i], bodies[i].parent < 0 ? NULL : &bodies[bodies[i].parent].grouped);
        }
        finite = finite && is_finite(&bodies[i].grouped);
    }
    for (int i = 0; i < count && !finite; i++) {
        bodies[i].grouped = ungrouped(&bodies[i]);
        bodies[i].serial = false;
        bodies[i].has_other_children = true;
    }
}
