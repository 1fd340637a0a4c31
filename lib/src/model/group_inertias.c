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

/* Returns the inertial parameters of a body and of the rotors that spin on it, held at rest: J = tr(I)/2 - I. */
static mass_grouping ungrouped_carrier(const body *b) {
    const double *I = b->carried_inertia;
    double half = (I[0] + I[3] + I[5]) / 2;
    mass_grouping g = {.mass = b->mass, .moments = {half - I[0], -I[1], -I[2], half - I[3], -I[4], half - I[5]}};
    memcpy(g.first_moment, b->first_moment, sizeof g.first_moment);
    return g;
}

/* Moves the mass, first moment and second moment on the axis of the revolute joint of b from its grouped parameters g
 * to those of the parent, or drops them where the parent is NULL: the world. */
static void pass_to_parent(const body *b, mass_grouping *g, mass_grouping *parent) {
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

/* Groups body i with its parent. Returns whether all of its parameters are finite. */
static bool group_body(const dyn_model *model, body *bodies, int i) {
    body *b = &bodies[i], *parent = b->parent < 0 ? NULL : &bodies[b->parent];
    if (b->motion == MOTION_REVOLUTE) {
        pass_to_parent(b, &b->grouped, parent ? &parent->grouped : NULL);
    }
    if (b->motion == MOTION_REVOLUTE && i < model->link_bodies) {
        pass_to_parent(b, &b->carried, parent ? &parent->carried : NULL);
    }
    return is_finite(&b->grouped) && is_finite(&b->carried);
}

static void set_ungrouped(body *b) {
    b->grouped = ungrouped(b);
    b->carried = ungrouped_carrier(b);
}

void group_inertias(const dyn_model *model, body *bodies) {
    bool finite = true;
    for (int i = 0; i < model->body_count; i++) {
        set_ungrouped(&bodies[i]);
    }
    for (int i = model->body_count - 1; i >= 0; i--) {
        finite = group_body(model, bodies, i) && finite;
    }
    for (int i = 0; i < model->body_count && !finite; i++) {
        set_ungrouped(&bodies[i]);
        bodies[i].serial = false;
        bodies[i].has_other_children = true;
    }
}
