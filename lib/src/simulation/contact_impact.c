/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Impact of contacts and stops: their impulses in a step without time, to which velocities respond as accelerations do
 * to forces.
 */
#include <dynamics/contact.h>
#include <math.h>
#include <string.h>

#include "../dynamics/arguments.h"
#include "../model/error.h"
#include "simulator.h"

static dyn_status check(const dyn_simulator *s, size_t n, const double *q, const double *v, double restitution,
                        dyn_error *error) {
    if (!(restitution >= 0 && restitution <= 1)) {
        return dyn_error_set(error, DYN_INVALID_ARGUMENT, "restitution",
                             "the coefficient of restitution is %g; pass a number from 0 to 1", restitution);
    }
    return dyn_check_state(s->model, s->workspace, n, NULL, q, v, error);
}

/* Stores the impulses of a sample, whose lane has been solved. */
static void store_impulses(const dyn_simulator *s, size_t lane, size_t sample, const dyn_contact_impact *to) {
    const contacts *c = &s->contacts.contacts;
    size_t surfaces = (size_t)c->surface_count, nv = (size_t)s->model->nv;
    if (to->contacts) {
        memcpy(to->contacts + 3 * surfaces * sample, c->lanes[lane].force, 3 * surfaces * sizeof(double));
    }
    if (to->stops) {
        contacts_stop_impulses(c, lane, to->stops + nv * sample);
    }
    if (to->residuals) {
        to->residuals[sample] = c->lanes[lane].course.residual;
    }
}

/* Stores results without impulses. */
static void store_nothing(const dyn_simulator *s, size_t sample, const dyn_contact_impact *to) {
    size_t surfaces = (size_t)dyn_model_contact_surface_count(s->model), nv = (size_t)s->model->nv;
    if (to->contacts) {
        memset(to->contacts + 3 * surfaces * sample, 0, 3 * surfaces * sizeof(double));
    }
    if (to->stops) {
        memset(to->stops + nv * sample, 0, nv * sizeof(double));
    }
    if (to->residuals) {
        to->residuals[sample] = 0;
    }
}

/* Computes the velocities after the impact of a block in s->v. Returns the sample that has none, or -1. */
static long strike(dyn_simulator *s, sample_block block, double restitution) {
    size_t count = (size_t)s->model->nv * block.lanes;
    const contact_step step = {.dt = 1,
                               .rest_velocity = s->options.rest_velocity,
                               .most_sweeps = s->options.contact_sweeps,
                               .reach = s->options.step_length,
                               .stop_restitution = restitution};
    memset(s->v_next, 0, count * sizeof *s->v_next);
    contacts_apply(&s->contacts.contacts, block, &step, s->q, s->v, NULL, s->v_next);
    for (size_t i = 0; i < count; i++) {
        s->v[i] += s->v_next[i];
        if (i % block.lanes < block.count && !isfinite(s->v[i])) {
            return (long)(block.first + i % block.lanes);
        }
    }
    return -1;
}

dyn_status dyn_simulator_impact(dyn_simulator *simulator, size_t n, const double *q, const double *v,
                                double restitution, const dyn_contact_impact *impact, dyn_error *error) {
    dyn_simulator *s = simulator;
    size_t nv = (size_t)s->model->nv;
    dyn_status status = check(s, n, q, v, restitution, error);
    for (sample_block block = simulator_block(s, n, 0); status == DYN_OK && block.count > 0;
         block = simulator_block(s, n, block.first + block.count)) {
        simulator_load(s, block, q, v);
        long undetermined = s->contacts.workspace ? strike(s, block, restitution) : -1;
        if (undetermined >= 0) {
            const dyn_error_site site = {.has_sample = true, .sample = (size_t)undetermined};
            return dyn_error_at(error, DYN_FAILED_PRECONDITION, &site,
                                "the velocities after the impact are not determined: no inertia resists them");
        }
        if (impact->v) {
            block.kernels->unpack(s->v, nv, block.count, impact->v + block.first * nv);
        }
        for (size_t l = 0; l < block.count; l++) {
            if (s->contacts.workspace) {
                store_impulses(s, l, block.first + l, impact);
            } else {
                store_nothing(s, block.first + l, impact);
            }
        }
    }
    return status;
}
