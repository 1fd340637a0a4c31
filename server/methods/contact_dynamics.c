/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Computes forward dynamics with contacts: the quantities of contacts over a step.
 */
#include "methods/contact_dynamics.h"

#include <dynamics/contact.h>

#include "methods/constrained.h"
#include "methods/evaluation.h"
#include "methods/methods.h"
#include "methods/passive_forces.h"

#define QUANTITY(name) DYNAMICS__V1__QUANTITY__QUANTITY_CONTACT_##name

/* Results of the evaluation, in their order. */
enum { ACCELERATION, FORCES, GAPS, SLIPS, SOLUTION, RESULTS };

static const Dynamics__V1__Quantity quantities[RESULTS] = {
    [ACCELERATION] = QUANTITY(ACCELERATION),
    [FORCES] = QUANTITY(FORCES),
    [GAPS] = QUANTITY(GAPS),
    [SLIPS] = QUANTITY(SLIPS),
    [SOLUTION] = QUANTITY(SOLUTION),
};

/* Refuses a model without contact surfaces, and the options of constrained dynamics. Returns false when the call has
 * ended. */
static bool check_unused(batch *b, const Dynamics__V1__ForwardDynamicsRequest *r) {
    if (dyn_model_contact_surface_count(b->model) == 0) {
        batch_blame(b, "contact_step");
        call_fail(b->call, REASON_UNUSED_FIELD, "model \"%s\" has no contact surfaces; leave it out", b->entry->name);
        return false;
    }
    const char *unused = constrained_option_of(r);
    if (unused) {
        batch_blame(b, "%s", unused);
        call_fail(b->call, REASON_UNUSED_FIELD, "a step with contacts has no use for it; leave it out");
    }
    return !unused;
}

static Dynamics__V1__ContactSolution *write_solution(batch *b, const evaluation *e) {
    Dynamics__V1__ContactSolution *to = call_allocate(b->call, 1, sizeof *to);
    uint64_t *sweeps = call_allocate(b->call, b->n, sizeof *sweeps);
    if (!to || !sweeps) {
        return NULL;
    }
    size_t surfaces = (size_t)dyn_model_contact_surface_count(b->model);
    dynamics__v1__contact_solution__init(to);
    to->n_forces = 3 * b->n * surfaces, to->forces = e->results[FORCES].values[0];
    to->n_gaps = b->n * surfaces, to->gaps = e->results[GAPS].values[0];
    to->n_slips = b->n * surfaces, to->slips = e->results[SLIPS].values[0];
    to->n_residuals = b->n, to->residuals = e->results[SOLUTION].values[0];
    to->n_sweeps = b->n, to->sweeps = sweeps;
    for (size_t i = 0; i < b->n; i++) {
        double iterations = e->results[SOLUTION].values[1][i];
        sweeps[i] = iterations > 0 ? (uint64_t)iterations : 0;
    }
    return to;
}

bool contact_forward_dynamics(batch *b, const Dynamics__V1__ForwardDynamicsRequest *r) {
    const sent_array arrays[STATE_ARRAYS] = {[STATE_V] = {r->n_v, r->v}, [STATE_TAU] = {r->n_tau, r->tau}};
    const quantity_place whole = {.subtree = -1};
    evaluation e;
    bool is_open = check_unused(b, r) && evaluation_open(b, &e, RESULTS);
    for (int i = 0; is_open && i < RESULTS; i++) {
        is_open = evaluation_check(b, quantities[i]) && evaluation_add(b, &e, quantities[i], &whole);
    }
    is_open = is_open && evaluation_set_contact_step(b, &e, r->contact_step);
    Dynamics__V1__ForwardDynamicsReply *reply =
        is_open && evaluation_run(b, &e, arrays) ? create_forward_dynamics_reply(b->call) : NULL;
    if (reply) {
        reply->samples = b->n;
        reply->n_a = b->n * b->nv;
        reply->a = e.results[ACCELERATION].values[0];
        reply->contacts = write_solution(b, &e);
        reply->passive_forces = passive_forces_write(b->call, &b->values.passive);
    }
    return reply != NULL;
}
