/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Impact on the constraints of a model: a velocity responds to impulses as an acceleration does to forces.
 */
#include <dynamics/impact.h>

#include <stdlib.h>
#include <string.h>

#include "../dynamics/arguments.h"
#include "../dynamics/carve.h"
#include "../dynamics/results.h"
#include "../model/error.h"
#include "closures.h"
#include "constraint_space.h"
#include "given_rows.h"

/* Parts of the workspace's memory. */
typedef struct impact_scratch {
    closures loops;
    double *v; /* nv, packed: velocities after the impact */
} impact_scratch;

static size_t lay_out(const dyn_model *model, size_t lanes, uintptr_t base, impact_scratch *s) {
    uintptr_t cursor = base;
    cursor += closures_lay_out(model, lanes, cursor, &s->loops);
    s->v = dyn_carve(&cursor, (size_t)model->nv * lanes * sizeof(double));
    return cursor - base;
}

static dyn_status check_restitution(double restitution, dyn_error *error) {
    return restitution >= 0 && restitution <= 1
               ? DYN_OK
               : dyn_error_set(error, DYN_INVALID_ARGUMENT, "restitution",
                               "the coefficient of restitution is %g; pass a number from 0 to 1", restitution);
}

/* Checks the model, and lays the scratch memory out in the workspace. */
static dyn_status open_impact(const dyn_model *model, const dyn_workspace *w, impact_scratch *s, dyn_error *error) {
    if (model->constraint_rows == 0) {
        return dyn_error_set(error, DYN_FAILED_PRECONDITION, "model", "the model has no constraint");
    }
    if (w->precision != DYN_PRECISION_DOUBLE) {
        return dyn_error_set(error, DYN_FAILED_PRECONDITION, "workspace",
                             "constraints are computed in double precision; use a workspace of that precision");
    }
    if (lay_out(model, (size_t)w->kernels->wide->lanes, (uintptr_t)w->constraint_memory, s) > w->constraint_size) {
        return dyn_error_memory(error);
    }
    closures_choose(model, w, &s->loops);
    return DYN_OK;
}

/* Changes the velocities s->v of all lanes, and stores their impulses; `impulses` may be NULL. */
static void strike(impact_scratch *s, sample_block block, double restitution, double *impulses) {
    closures *c = &s->loops;
    const size_t m = (size_t)c->rows.set.m;
    closures_require_rates(c, block);
    for (size_t r = 0; r < m; r++) {
        for (size_t l = 0; l < block.lanes; l++) {
            double rate = closures_rate(&c->rows, block, l, (int)r, c->model->nv, s->v);
            c->c[r * block.lanes + l] -= restitution * (rate - c->c[r * block.lanes + l]);
        }
    }
    closures_solve(c, block, NULL, s->v);
    for (size_t l = 0; l < block.count && impulses; l++) {
        closures_load_multipliers(c, block, l);
        memcpy(impulses + (block.first + l) * m, c->lambda, m * sizeof *impulses);
    }
}

/* ---- Given rows -------------------------------------------------------------------------------------------------- */

/* Returns an error for a model with a prescribed motion. */
static dyn_status check_rates(const dyn_model *model, dyn_error *error) {
    for (int i = 0; i < model->constraint_count; i++) {
        if (model->closures[i].kind == CLOSURE_PRESCRIBED) {
            return dyn_error_set(error, DYN_FAILED_PRECONDITION, "model",
                                 "constraint %s prescribes a motion, which impacts of given rows do not consider",
                                 model->constraints[i].name);
        }
    }
    return DYN_OK;
}

/* Computes the impact of the velocities v; NULL: zeros. */
static dyn_status strike_given(const given_impact *impact, const double *v, double *v_after, double *impulses,
                               dyn_error *error) {
    const size_t count = impact->n * (size_t)impact->model->nv;
    double *struck = v_after ? v_after : calloc(count + 1, sizeof *struck);
    dyn_status status = struck ? check_rates(impact->model, error) : dyn_error_memory(error);
    if (struck && v) {
        memmove(struck, v, count * sizeof *v);
    } else if (struck) {
        memset(struck, 0, count * sizeof *struck);
    }
    if (status == DYN_OK) {
        status = constraint_space_strike(impact, struck, impulses, error);
    }
    if (struck != v_after) {
        free(struck);
    }
    return status;
}

/* ---- Entry point ------------------------------------------------------------------------------------------------- */

dyn_status dyn_impact(const dyn_model *model, dyn_workspace *workspace, size_t n, const double *q, const double *v,
                      const dyn_given_rows *given, double restitution, double *v_after, double *impulses,
                      dyn_error *error) {
    impact_scratch s;
    size_t nv = (size_t)model->nv;
    dyn_status status = dyn_check_state(model, workspace, n, NULL, q, v, error);
    if (status == DYN_OK) {
        status = check_restitution(restitution, error);
    }
    if (status == DYN_OK && given_rows_count(given) > 0) {
        const given_impact impact = {model, workspace, n, q, given, restitution};
        return strike_given(&impact, v, v_after, impulses, error);
    }
    if (status == DYN_OK) {
        status = open_impact(model, workspace, &s, error);
    }
    const results velocities = {1, {{"v_after", v_after, nv}}};
    void *const packed[MAX_RESULTS] = {s.v};
    for (size_t first = 0; status == DYN_OK && first < n;) {
        sample_block block = dyn_block_at(workspace, n, first, 0);
        const void *packed_q = dyn_block_pack(workspace, 0, q, (size_t)model->nq, block);
        const void *packed_v = v ? dyn_block_pack(workspace, 1, v, nv, block) : workspace->zero;
        closures_respond(&s.loops, block, packed_q, packed_v, NULL);
        status = dyn_check_pivots(model, workspace, block, error);
        memcpy(s.v, packed_v, nv * block.lanes * sizeof *s.v);
        if (status == DYN_OK) {
            strike(&s, block, restitution, impulses);
            status = dyn_results_store(workspace, packed, block, &velocities, error);
        }
        first += block.count;
    }
    return status;
}
