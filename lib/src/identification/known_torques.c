/* SPDX-License-Identifier: BSD-2-Clause */
#include "known_torques.h"

#include <math.h>
#include <stdlib.h>

#include <dynamics/inverse_dynamics.h>

#include "../model/error.h"

/* Adds sign * share of the torques of one equation of motion. `scratch` has n x nv numbers. */
typedef struct sum {
    const record *r;
    const dyn_recorded_motion *motion;
    const double *gravity;
    dyn_workspace *workspace;
    double *scratch;
} sum;

static dyn_status add(const sum *s, const dyn_model *model, const dyn_external_forces *forces, double sign,
                      const double *load, dyn_error *error) {
    const record *r = s->r;
    dyn_status status = dyn_rnea(model, s->workspace, r->n, s->gravity, r->q, r->v, r->a, forces, s->scratch, error);
    for (size_t i = 0; i < r->n * r->nv && status == DYN_OK; i++) {
        r->known[i] += sign * (load ? load[i / r->nv] : 1) * s->scratch[i];
    }
    return status;
}

static dyn_status check_load(const dyn_recorded_motion *m, dyn_error *error) {
    for (size_t i = 0; i < m->n && m->load; i++) {
        if (!isfinite(m->load[i])) {
            const dyn_error_site site = {
                .cause = DYN_CAUSE_NOT_FINITE, .argument = "load", .has_index = true, .index = i};
            return dyn_error_at(error, DYN_INVALID_ARGUMENT, &site, "the share is %g; pass a finite number",
                                m->load[i]);
        }
    }
    return DYN_OK;
}

/* Adds the torques of the payloads, then those of the forces. */
static dyn_status add_loads(const sum *s, const dyn_model *model, dyn_error *error) {
    const dyn_recorded_motion *m = s->motion;
    const dyn_model *loaded = model;
    dyn_status status = dyn_workspace_load(s->workspace, m->payload_count, m->payloads, &loaded, error);
    if (status == DYN_OK && m->payload_count > 0) {
        status = add(s, loaded, NULL, 1, m->load, error);
    }
    if (status == DYN_OK) {
        status = dyn_workspace_load(s->workspace, 0, NULL, &loaded, error);
    }
    if (status == DYN_OK && m->payload_count > 0) {
        status = add(s, model, NULL, -1, m->load, error);
    }
    if (status == DYN_OK && m->forces) {
        status = add(s, model, m->forces, 1, NULL, error);
        status = status == DYN_OK ? add(s, model, NULL, -1, NULL, error) : status;
    }
    return status;
}

dyn_status known_torques(const dyn_model *model, const dyn_recorded_motion *motion, const double *gravity, record *r,
                         dyn_error *error) {
    sum s = {.r = r, .motion = motion, .gravity = gravity};
    dyn_status status = check_load(motion, error);
    if (status != DYN_OK || (motion->payload_count == 0 && (!motion->forces || motion->forces->count == 0))) {
        return status;
    }
    r->known = calloc(r->n * r->nv + 1, sizeof *r->known);
    s.scratch = calloc(r->n * r->nv + 1, sizeof *s.scratch);
    status = r->known && s.scratch ? dyn_workspace_create(model, &s.workspace, error) : dyn_error_memory(error);
    if (status == DYN_OK) {
        status = add_loads(&s, model, error);
    }
    dyn_workspace_free(s.workspace);
    free(s.scratch);
    return status;
}
