/* SPDX-License-Identifier: BSD-2-Clause */
/* Computes InverseDynamics, ForwardDynamics, MassMatrix, Gravity and BiasForces by a formulation of the literature; and
 * Formulate. */
#include "methods/formulation.h"

#include <dynamics/formulation.h>

#include "methods/flexible.h"
#include "methods/formulated_quantity.h"
#include "methods/formulate_reply.h"
#include "methods/methods.h"
#include "methods/motion.h"
#include "methods/passive_forces.h"
#include "methods/team.h"
#include "methods/tip_constraints.h"

#define QUANTITY(name) DYNAMICS__V1__QUANTITY__QUANTITY_##name

/* Least nv from which threads gain by sharing the levels of one state (tests/bench/constraint_force.c). */
enum { TEAM_LEAST_COORDINATES = 500 };

/* Lets a formulation share the work on one state with idle threads, where no other thread computes states of the batch.
 * Returns the team, which the caller ends, or NULL. */
static team *share_state(const batch *b, dyn_formulation *f) {
    const service_options *s = b->call->service;
    bool is_long = b->nv >= TEAM_LEAST_COORDINATES && b->worker_count == 1;
    team *t = is_long && b->call->is_on_worker && s->workers > 1 && dyn_formulation_spreads(f)
                  ? team_create(s->submit, s->pool, s->workers - 1)
                  : NULL;
    dyn_formulation_spread(f, t ? team_spread(t) : NULL);
    return t;
}

/* ---- one quantity of many states --------------------------------------------------------------------------------- */

/* Computation of a quantity by a formulation. The arrays have n rows in the model's order. */
typedef struct formulated {
    const char *formulation;
    Dynamics__V1__Quantity quantity;
    const double *v, *x;             /* x: a for inverse dynamics, tau for forward dynamics. NULL: zeros */
    const dyn_frame_constraint *tip; /* as many as the query has */
    size_t width;                    /* values of a state */
    double *out;
} formulated;

/* Computes state s of the batch. */
static dyn_status formulate_state(const batch *b, const batch_worker *w, const formulated *from, size_t s,
                                  dyn_formulation *f, dyn_error *error) {
    const double *x = motion_rows(from->x, b->nv, s);
    double *memory = (double *)((char *)w->scratch + batch_forces_size(b));
    dyn_external_forces forces;
    dyn_base_motion base;
    const states one = {
        .model = w->model,
        .workspace = w->workspace,
        .first = s,
        .count = 1,
        .q = b->q + s * b->nq,
        .v = motion_rows(from->v, b->nv, s),
        .a = from->quantity == QUANTITY(FORWARD_DYNAMICS) ? NULL : x,
        .tau = from->quantity == QUANTITY(FORWARD_DYNAMICS) ? x : NULL,
        .gravity = b->values.gravity,
        .forces = batch_forces(b, s, w->scratch, &forces),
        .passive = &b->values.passive,
        .base = batch_base(b, s, &base),
        .gear_losses = passive_forces_gear_numbers(w->model, &b->values.passive, 1) > 0 ? memory + b->nv : NULL,
    };
    dyn_status status = tip_constraints_apply(b, w, from->tip, one.q, one.v, f, error);
    return status == DYN_OK ? formulated_quantity(&one, f, from->quantity, memory, from->out + s * from->width, error)
                            : status;
}

static dyn_status formulate_states(const batch *b, const batch_worker *w, const void *context, size_t first,
                                   size_t count, dyn_error *error) {
    const formulated *from = context;
    dyn_formulation *f = NULL;
    dyn_status status = dyn_formulation_create(w->model, from->formulation, &f, error);
    team *t = status == DYN_OK ? share_state(b, f) : NULL;
    for (size_t i = 0; status == DYN_OK && i < count; i++) {
        status = formulate_state(b, w, from, first + i, f, error);
        if (status != DYN_OK) {
            /* The library counts from the state on, the batch from the block on. */
            error->site.sample += i;
            error->site.index += i * error->site.width;
        } else if (!batch_proceed(b, 1)) {
            status = DYN_CANCELLED;
        }
    }
    team_end(t);
    dyn_formulation_free(f);
    return status;
}

query_parts formulation_parts(unsigned inputs) {
    /* Constraints change neither the mass matrix nor other quantities of the tree that do not depend on them. */
    const query_parts other = QUERY_PRECISION | QUERY_ADDED_CONSTRAINTS | QUERY_ROWS | QUERY_TIME |
                              (inputs & USES_CONSTRAINTS ? QUERY_CONSTRAINTS : QUERY_MODEL);
    return (evaluation_parts(inputs) & ~other) | QUERY_FORMULATION;
}

double *formulation_compute(batch *b, Dynamics__V1__Quantity quantity, const sent_array arrays[STATE_ARRAYS]) {
    state_array third = quantity == QUANTITY(FORWARD_DYNAMICS) ? STATE_TAU : STATE_A;
    formulated x = {.formulation = b->query->formulation, .quantity = quantity};
    if (!evaluation_check(b, quantity) || !formulated_gear_losses_are_possible(b) || !tip_constraints_read(b, &x.tip) ||
        !batch_check(b, "v", arrays[STATE_V].count) || !batch_check(b, state_array_names[third], arrays[third].count)) {
        return NULL;
    }
    x.width = quantity == QUANTITY(MASS_MATRIX) ? b->nv * b->nv : b->nv;
    b->block_size = FORMULATED_STATES;
    b->parts = 1;
    batch_expect(b, x.width);
    if (!batch_begin(b, FORMULATED_STATE_COST)) {
        return NULL;
    }
    x.v = batch_input(b, arrays[STATE_V].count, arrays[STATE_V].values);
    x.x = batch_input(b, arrays[third].count, arrays[third].values);
    x.out = batch_output(b, x.width);
    size_t numbers = b->nv + passive_forces_gear_numbers(b->model, &b->values.passive, 1);
    size_t scratch = batch_forces_size(b) + numbers * sizeof(double);
    if (call_has_ended(b->call) || !batch_run(b, formulate_states, &x, scratch)) {
        return NULL;
    }
    batch_mark_rows(b, x.width, x.out);
    return quantity == QUANTITY(MASS_MATRIX) ? batch_matrices(b, x.out) : batch_vectors(b, x.out);
}

/* ---- inner quantities -------------------------------------------------------------------------------------------- */

/* Motions of the states, and the places of their results. */
typedef struct formulate_task {
    const char *formulation;
    const dyn_frame_constraint *tip; /* as many as the query has */
    const double *v, *a;
    double *tau;
    formulated_blocks *found;
} formulate_task;

/* Computes the blocks of the constraints of the model under the forces of the motion, where it has any, in scratch
 * memory. */
static dyn_status find_constraint_blocks(const batch *b, const batch_worker *w, const formulate_task *x, size_t s,
                                         dyn_formulation *by, block_set *to, dyn_error *error) {
    if (dyn_model_constraint_rows(w->model) == 0) {
        return DYN_OK;
    }
    to->count = DYN_FORMULATION_CONSTRAINT_BLOCKS;
    return dyn_formulation_constraint_blocks(by, w->model, w->workspace, b->values.gravity, b->q + s * b->nq,
                                             motion_rows(x->v, b->nv, s), x->tau + s * b->nv,
                                             (double *)((char *)w->scratch + batch_forces_size(b)), to->blocks, error);
}

/* Adds the blocks of the formulation itself. */
static dyn_status find_own_blocks(const batch *b, const formulate_task *x, size_t s, dyn_formulation *by, block_set *to,
                                  dyn_error *error) {
    const dyn_formulation_block *own;
    int count = 0;
    dyn_status status =
        dyn_formulation_coefficients(by, b->values.gravity, b->q + s * b->nq, motion_rows(x->v, b->nv, s),
                                     motion_rows(x->a, b->nv, s), &own, &count, error);
    for (int i = 0; status == DYN_OK && i < count; i++) {
        to->blocks[to->count++] = own[i];
    }
    return status;
}

/* Computes the forces of state s. */
static dyn_status find_forces(const batch *b, const batch_worker *w, const formulate_task *x, size_t s,
                              dyn_formulation *by, dyn_error *error) {
    dyn_external_forces forces;
    dyn_base_motion base;
    dyn_formulation_move_base(by, batch_base(b, s, &base));
    dyn_status status = dyn_formulation_apply_forces(by, batch_forces(b, s, w->scratch, &forces), error);
    if (status == DYN_OK) {
        status =
            dyn_formulation_inverse_dynamics(by, 1, b->values.gravity, b->q + s * b->nq, motion_rows(x->v, b->nv, s),
                                             motion_rows(x->a, b->nv, s), x->tau + s * b->nv, error);
    }
    return status == DYN_OK && !batch_proceed(b, 0) ? DYN_CANCELLED : status;
}

/* Removes the constraints of the last link, those of the state before, with which there is no inverse dynamics. */
static dyn_status remove_tip_constraints(const batch *b, dyn_formulation *by, dyn_error *error) {
    return b->query->n_tip_constraints > 0 ? dyn_formulation_constrain_tip(by, 0, NULL, error) : DYN_OK;
}

/* Subtracts the passive forces and the losses of gears that count from the forces of state s. */
static dyn_status subtract_passive_forces(const batch *b, const batch_worker *w, const formulate_task *x, size_t s,
                                          dyn_error *error) {
    dyn_external_forces forces;
    dyn_base_motion base;
    bool is_lossy = passive_forces_gear_numbers(w->model, &b->values.passive, 1) > 0;
    double *scratch = (double *)((char *)w->scratch + batch_forces_size(b));
    const states one = {
        .model = w->model,
        .workspace = w->workspace,
        .count = 1,
        .q = b->q + s * b->nq,
        .v = motion_rows(x->v, b->nv, s),
        .a = motion_rows(x->a, b->nv, s),
        .gravity = b->values.gravity,
        .forces = batch_forces(b, s, w->scratch, &forces),
        .passive = &b->values.passive,
        .base = batch_base(b, s, &base),
        .gear_losses = is_lossy ? scratch + dyn_formulation_constraint_numbers(w->model) : NULL,
    };
    double *tau = x->tau + s * b->nv;
    dyn_status status = passive_forces_add(w->model, 1, one.passive, -1, one.q, one.v, tau, error);
    return status == DYN_OK ? quantities_add_gear_losses(&one, NULL, -1, tau, error) : status;
}

/* Computes and stores the blocks of state s. */
static dyn_status find_inner_quantities(const batch *b, const batch_worker *w, const formulate_task *x, size_t s,
                                        dyn_formulation *by, dyn_error *error) {
    const double *q = b->q + s * b->nq, *v = motion_rows(x->v, b->nv, s);
    block_set found = {.count = 0};
    dyn_status status = remove_tip_constraints(b, by, error);
    if (status == DYN_OK) {
        status = find_forces(b, w, x, s, by, error);
    }
    if (status == DYN_OK) {
        status = find_constraint_blocks(b, w, x, s, by, &found, error);
    }
    if (status == DYN_OK) {
        status = tip_constraints_apply(b, w, x->tip, q, v, by, error);
    }
    if (status == DYN_OK) {
        status = find_own_blocks(b, x, s, by, &found, error);
    }
    if (status == DYN_OK) {
        status = subtract_passive_forces(b, w, x, s, error);
    }
    return status == DYN_OK ? formulated_blocks_store(x->found, s, &found, error) : status;
}

static dyn_status find_states(const batch *b, const batch_worker *w, const void *context, size_t first, size_t count,
                              dyn_error *error) {
    const formulate_task *x = context;
    dyn_formulation *by = NULL;
    dyn_status status = dyn_formulation_create(w->model, x->formulation, &by, error);
    for (size_t i = 0; status == DYN_OK && i < count && !formulated_blocks_exceed(x->found); i++) {
        status = find_inner_quantities(b, w, x, first + i, by, error);
        if (status != DYN_OK) {
            /* The library counts from the state on, the batch from the block on. */
            error->site.sample += i;
            error->site.index += i * error->site.width;
        } else if (!batch_proceed(b, 1)) {
            status = DYN_CANCELLED;
        }
    }
    dyn_formulation_free(by);
    return status;
}

/* Computes the inner quantities of the formulation for links that do not bend. */
static void formulate_rigid(batch *b, const Dynamics__V1__FormulateRequest *r) {
    const dyn_frame_constraint *tip;
    formulated_blocks found;
    formulated_blocks_open(b, &found);
    b->block_size = FORMULATED_STATES;
    b->parts = 1;
    batch_expect(b, b->nv);
    if (formulated_gear_losses_are_possible(b) && tip_constraints_read(b, &tip) &&
        batch_begin(b, FORMULATED_STATE_COST)) {
        const formulate_task x = {
            .formulation = r->query->formulation,
            .tip = tip,
            .v = batch_input(b, r->n_v, r->v),
            .a = batch_input(b, r->n_a, r->a),
            .tau = batch_output(b, b->nv),
            .found = &found,
        };
        size_t numbers =
            dyn_formulation_constraint_numbers(b->model) + passive_forces_gear_numbers(b->model, &b->values.passive, 1);
        size_t scratch = batch_forces_size(b) + numbers * sizeof(double);
        if (!call_has_ended(b->call) && batch_run(b, find_states, &x, scratch)) {
            formulate_reply(b, r->query->formulation, x.tau, &found);
        }
    }
    formulated_blocks_close(&found);
}

void method_formulate(call *c) {
    const Dynamics__V1__FormulateRequest *r = c->request->formulate;
    const query_parts supported =
        QUERY_GRAVITY | QUERY_PAYLOADS | QUERY_FORCES | QUERY_FORMULATION | QUERY_TIP_CONSTRAINTS | QUERY_BASE_MOTION |
        (r->n_flexible_links == 0 ? QUERY_CONSTRAINTS | QUERY_ADDED_CONSTRAINTS | QUERY_PASSIVE_FORCES : QUERY_MODEL);
    batch b;
    if (batch_open(c, &b, r->query, supported, r->n_q, r->q) && batch_check(&b, "v", r->n_v) &&
        batch_check(&b, "a", r->n_a) && batch_check(&b, "tau", r->n_tau)) {
        if (flexible_links_are_absent(&b, r)) {
            formulate_rigid(&b, r);
        } else if (!call_has_ended(c)) {
            flexible_formulate(&b, r);
        }
    }
    batch_close(&b);
}
