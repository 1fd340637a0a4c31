/* SPDX-License-Identifier: BSD-2-Clause */
/* InverseDynamics, ForwardDynamics, MassMatrix, Gravity, BiasForces: compute one row of the table of quantities each.
 * Forward dynamics of a model with constraints is in constrained.c. */
#include "methods/constrained.h"
#include "methods/contact_dynamics.h"
#include "methods/evaluation.h"
#include "methods/formulated_quantity.h"
#include "methods/formulation.h"
#include "methods/given_rows.h"
#include "methods/methods.h"
#include "methods/motion_agreement.h"
#include "methods/passive_forces.h"

#define QUANTITY(name) DYNAMICS__V1__QUANTITY__QUANTITY_##name

/* Returns whether the query names a formulation of the literature that computes the quantity. */
static bool uses_formulation(const Dynamics__V1__Query *query, Dynamics__V1__Quantity quantity) {
    return query && query->formulation[0] != '\0' && formulated_quantity_is_one(quantity);
}

/* Returns the parts of a query that the quantity supports, with the formulation of the query if it has one. */
static query_parts supported_by(const Dynamics__V1__Query *query, Dynamics__V1__Quantity quantity) {
    unsigned inputs = quantity_find(quantity)->inputs;
    query_parts tip = quantity == QUANTITY(FORWARD_DYNAMICS) ? QUERY_TIP_CONSTRAINTS : QUERY_MODEL;
    return uses_formulation(query, quantity) ? formulation_parts(inputs) | tip : evaluation_parts(inputs);
}

/* Computes one quantity of an open batch, which concerns the whole robot. Returns its values, n rows, or NULL when the
 * call has ended or is deferred. *agreement (may be NULL) becomes that of the motions, or NULL. */
static double *compute(batch *b, Dynamics__V1__Quantity quantity, const sent_array arrays[STATE_ARRAYS],
                       Dynamics__V1__MotionAgreement **agreement) {
    evaluation e;
    const quantity_place whole = {.subtree = -1};
    if (agreement) {
        *agreement = NULL;
    }
    if (uses_formulation(b->query, quantity)) {
        return formulation_compute(b, quantity, arrays);
    }
    bool is_done = evaluation_check(b, quantity) && evaluation_open(b, &e, 1) &&
                   evaluation_add(b, &e, quantity, &whole) && evaluation_run(b, &e, arrays);
    if (is_done && agreement) {
        *agreement = motion_agreement_write(b, e.agreement);
    }
    return is_done ? e.results[0].values[0] : NULL;
}

/* Opens the batch of a request and computes one quantity. Returns its values, n rows, or NULL when the call has ended
 * or is deferred. The caller must close the batch in every case. */
static double *open_and_compute(call *c, batch *b, const Dynamics__V1__Query *query, Dynamics__V1__Quantity quantity,
                                const sent_array *q, const sent_array arrays[STATE_ARRAYS]) {
    return batch_open(c, b, query, supported_by(query, quantity), q->count, q->values)
               ? compute(b, quantity, arrays, NULL)
               : NULL;
}

void method_inverse_dynamics(call *c) {
    const Dynamics__V1__InverseDynamicsRequest *r = c->request->inverse_dynamics;
    const sent_array arrays[STATE_ARRAYS] = {[STATE_V] = {r->n_v, r->v}, [STATE_A] = {r->n_a, r->a}};
    batch b;
    bool is_open = batch_open(c, &b, r->query, supported_by(r->query, QUANTITY(INVERSE_DYNAMICS)), r->n_q, r->q);
    Dynamics__V1__MotionAgreement *agreement;
    bool is_ready = is_open && given_rows_read(&b);
    double *tau = is_ready ? compute(&b, QUANTITY(INVERSE_DYNAMICS), arrays, &agreement) : NULL;
    Dynamics__V1__InverseDynamicsReply *reply = tau ? create_inverse_dynamics_reply(c) : NULL;
    if (reply) {
        reply->samples = b.n;
        reply->n_tau = b.n * b.nv;
        reply->tau = tau;
        reply->passive_forces = passive_forces_write(c, &b.values.passive);
        reply->agreement = agreement;
    }
    batch_close(&b);
}

/* Computes the forward dynamics without constraints, and fills the reply. */
static void forward_dynamics_of_tree(batch *b, const Dynamics__V1__ForwardDynamicsRequest *r) {
    const sent_array arrays[STATE_ARRAYS] = {[STATE_V] = {r->n_v, r->v}, [STATE_TAU] = {r->n_tau, r->tau}};
    double *a = constrained_check_absent(b, r) ? compute(b, QUANTITY(FORWARD_DYNAMICS), arrays, NULL) : NULL;
    Dynamics__V1__ForwardDynamicsReply *reply = a ? create_forward_dynamics_reply(b->call) : NULL;
    if (reply) {
        reply->samples = b->n;
        reply->n_a = b->n * b->nv;
        reply->a = a;
        reply->passive_forces = passive_forces_write(b->call, &b->values.passive);
    }
}

/* Refuses contacts beside a formulation or rows of the query. Returns false when the call has ended. */
static bool check_contact_step(batch *b, const Dynamics__V1__ForwardDynamicsRequest *r, bool is_alone) {
    if (r->contact_step != 0 && !is_alone) {
        batch_blame(b, "contact_step");
        call_fail(b->call, REASON_CONFLICTING_FIELDS,
                  "contacts act with neither a formulation nor rows of the query; leave contact_step out");
        return false;
    }
    return true;
}

void method_forward_dynamics(call *c) {
    const Dynamics__V1__ForwardDynamicsRequest *r = c->request->forward_dynamics;
    batch b;
    query_parts supported = supported_by(r->query, QUANTITY(FORWARD_DYNAMICS));
    bool is_open = batch_open(c, &b, r->query, supported, r->n_q, r->q);
    bool is_of_tree = uses_formulation(r->query, QUANTITY(FORWARD_DYNAMICS));
    bool has_constraints = is_open && (dyn_model_constraint_rows(b.model) > 0 || r->query->rows);
    is_open = is_open && check_contact_step(&b, r, !is_of_tree && !r->query->rows);
    if (is_open && !is_of_tree && r->contact_step != 0) {
        contact_forward_dynamics(&b, r);
    } else if (is_open && !is_of_tree && has_constraints) {
        constrained_forward_dynamics(&b, r);
    } else if (is_open) {
        forward_dynamics_of_tree(&b, r);
    }
    batch_close(&b);
}

void method_mass_matrix(call *c) {
    const Dynamics__V1__MassMatrixRequest *r = c->request->mass_matrix;
    const sent_array q = {r->n_q, r->q}, arrays[STATE_ARRAYS] = {{0}};
    batch b;
    double *mass_matrix = open_and_compute(c, &b, r->query, QUANTITY(MASS_MATRIX), &q, arrays);
    Dynamics__V1__MassMatrixReply *reply = mass_matrix ? create_mass_matrix_reply(c) : NULL;
    if (reply) {
        reply->samples = b.n;
        reply->nv = (uint32_t)b.nv;
        reply->n_mass_matrix = b.n * b.nv * b.nv;
        reply->mass_matrix = mass_matrix;
    }
    batch_close(&b);
}

void method_gravity(call *c) {
    const Dynamics__V1__GravityRequest *r = c->request->gravity;
    const sent_array q = {r->n_q, r->q}, arrays[STATE_ARRAYS] = {{0}};
    batch b;
    double *g = open_and_compute(c, &b, r->query, QUANTITY(GRAVITY_FORCES), &q, arrays);
    Dynamics__V1__GravityReply *reply = g ? create_gravity_reply(c) : NULL;
    if (reply) {
        reply->samples = b.n;
        reply->n_g = b.n * b.nv;
        reply->g = g;
    }
    batch_close(&b);
}

void method_bias_forces(call *c) {
    const Dynamics__V1__BiasForcesRequest *r = c->request->bias_forces;
    const sent_array q = {r->n_q, r->q}, arrays[STATE_ARRAYS] = {[STATE_V] = {r->n_v, r->v}};
    batch b;
    double *h = open_and_compute(c, &b, r->query, QUANTITY(BIAS_FORCES), &q, arrays);
    Dynamics__V1__BiasForcesReply *reply = h ? create_bias_forces_reply(c) : NULL;
    if (reply) {
        reply->samples = b.n;
        reply->n_h = b.n * b.nv;
        reply->h = h;
    }
    batch_close(&b);
}
