/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stops and dry friction of joints as bounded rows beside the contacts.
 */
#include <math.h>

#include "contacts.h"

/* Distance from a limit beyond which its row is left out unless the joint reaches it in a step, rad or m. */
static const double near = 0.005;

/* Gap up to which contacts and stops touch in an impact, m or rad. */
static const double touching = 1e-6;

/* Motion of a joint toward a limit: the gap, and the velocities before the step and without impulses. */
typedef struct approach {
    double gap, before, free;
} approach;

bool contacts_strike(const contact_step *step, double gap, double v) {
    return gap <= touching || gap + step->reach * v < 0;
}

double contacts_rebound(const contact_step *step, double e, double v) {
    return v < -step->rest_velocity ? -e * v : 0;
}

/* Returns whether the joint may reach the limit in the step. */
static bool reaches(const approach *a, const contact_step *step) {
    if (step->reach > 0) {
        return contacts_strike(step, a->gap, a->before);
    }
    return a->gap <= near || a->gap + 2 * step->dt * fmin(a->before, a->free) <= 0;
}

/* Returns the least velocity away from the limit after the step. */
static double least_velocity(const approach *a, const contact_joint *joint, const contact_step *step) {
    if (step->reach > 0) {
        return contacts_rebound(step, step->stop_restitution, a->before);
    }
    double least = a->gap > 0 ? -a->gap / step->dt : 0;
    bool is_impact = a->before < -step->rest_velocity && a->gap + step->dt * a->free < 0;
    return is_impact ? fmax(least, -joint->restitution * a->before) : least;
}

void contacts_add_joints(contacts *c, sample_block block, const contact_step *step, size_t lane, int first) {
    bounded_row *rows = c->bounded + lane * MOST_JOINT_ROWS * (size_t)c->most_joints;
    int count = 0;
    for (int i = 0; i < c->joint_count; i++) {
        const contact_joint *joint = &c->joints[i];
        size_t at = (size_t)(first + i) * block.lanes + lane;
        double q = c->q[(size_t)joint->q * block.lanes + lane], before = c->u_before[at], free = c->u_free[at];
        const approach lower = {q - joint->lower, before, free}, upper = {joint->upper - q, -before, -free};
        if (reaches(&lower, step)) {
            rows[count++] = (bounded_row){first + i, 0, INFINITY, least_velocity(&lower, joint, step), 0, NULL};
        }
        if (reaches(&upper, step)) {
            rows[count++] = (bounded_row){first + i, -INFINITY, 0, -least_velocity(&upper, joint, step), 0, NULL};
        }
        if (joint->friction > 0 && !(step->reach > 0)) {
            double most = joint->friction * step->dt;
            rows[count++] = (bounded_row){first + i, -most, most, 0, 0, NULL};
        }
    }
    c->bounded_counts[lane] = count;
}

void contacts_stop_impulses(const contacts *c, size_t lane, double *impulses) {
    const bounded_row *rows = c->bounded + lane * MOST_JOINT_ROWS * (size_t)c->most_joints;
    for (int k = 0; k < c->model->nv; k++) {
        impulses[k] = 0;
    }
    for (int i = 0; i < c->bounded_counts[lane]; i++) {
        impulses[c->joints[rows[i].row - 6 * c->active_count].v] += rows[i].impulse;
    }
}
