/* SPDX-License-Identifier: BSD-2-Clause */
/* InverseDynamics, ForwardDynamics, MassMatrix, Gravity, BiasForces. */
#include <dynamics/dynamics.h>

#include "methods/batch.h"
#include "methods/methods.h"
#include "methods/motion.h"

/* ns for one coordinate of one sample, roughly; decides which requests are long. */
static const double RECURSION_COST = 20;
static const double MATRIX_COST = 2;

/* Parts of the query that the mass matrix depends on, and those of gravity and bias forces. */
static const query_parts MATRIX_PARTS = QUERY_JOINT_NAMES | QUERY_PAYLOADS | QUERY_PRECISION;
static const query_parts FORCE_PARTS = QUERY_JOINT_NAMES | QUERY_GRAVITY | QUERY_PAYLOADS | QUERY_PRECISION;

/* Inputs and outputs of a step of these methods. */
typedef struct task {
    motion m;
    double *result;
} task;

static dyn_status inverse_step(const batch *b, const batch_worker *w, const void *context, size_t first, size_t count,
                               dyn_error *error) {
    const task *t = context;
    dyn_external_forces forces;
    return dyn_rnea(w->model, w->workspace, count, b->gravity, b->q + first * b->nq, motion_rows(t->m.v, b->nv, first),
                    motion_rows(t->m.a, b->nv, first), batch_forces(b, first, w->scratch, &forces), error,
                    t->result + first * b->nv);
}

void method_inverse_dynamics(call *c) {
    const Dynamics__V1__InverseDynamicsRequest *r = c->request->inverse_dynamics;
    batch b;
    task t = {0};
    bool is_ready = batch_open(c, &b, r->query, QUERY_ALL, r->n_q, r->q) && batch_check(&b, "v", r->n_v) &&
                    batch_check(&b, "a", r->n_a);
    if (is_ready) {
        batch_expect(&b, b.nv);
        is_ready = batch_begin(&b, RECURSION_COST * (double)b.nv);
    }
    if (is_ready) {
        t.m.v = batch_input(&b, r->n_v, r->v);
        t.m.a = batch_input(&b, r->n_a, r->a);
        t.result = batch_output(&b, b.nv);
    }
    Dynamics__V1__InverseDynamicsReply *reply = is_ready ? call_allocate(c, 1, sizeof *reply) : NULL;
    if (reply && !call_has_ended(c) && batch_run(&b, inverse_step, &t, batch_forces_size(&b))) {
        dynamics__v1__inverse_dynamics_reply__init(reply);
        reply->samples = b.n;
        reply->n_tau = b.n * b.nv;
        reply->tau = batch_vectors(&b, t.result);
        c->reply.result_case = DYNAMICS__V1__REPLY__RESULT_INVERSE_DYNAMICS;
        c->reply.inverse_dynamics = reply;
    }
    batch_close(&b);
}

static dyn_status forward_step(const batch *b, const batch_worker *w, const void *context, size_t first, size_t count,
                               dyn_error *error) {
    const task *t = context;
    dyn_external_forces forces;
    return dyn_aba(w->model, w->workspace, count, b->gravity, b->q + first * b->nq, motion_rows(t->m.v, b->nv, first),
                   motion_rows(t->m.tau, b->nv, first), batch_forces(b, first, w->scratch, &forces), error,
                   t->result + first * b->nv);
}

void method_forward_dynamics(call *c) {
    const Dynamics__V1__ForwardDynamicsRequest *r = c->request->forward_dynamics;
    batch b;
    task t = {0};
    bool is_ready = batch_open(c, &b, r->query, QUERY_ALL, r->n_q, r->q) && batch_check(&b, "v", r->n_v) &&
                    batch_check(&b, "tau", r->n_tau);
    if (is_ready) {
        batch_expect(&b, b.nv);
        is_ready = batch_begin(&b, 2 * RECURSION_COST * (double)b.nv);
    }
    if (is_ready) {
        t.m.v = batch_input(&b, r->n_v, r->v);
        t.m.tau = batch_input(&b, r->n_tau, r->tau);
        t.result = batch_output(&b, b.nv);
    }
    Dynamics__V1__ForwardDynamicsReply *reply = is_ready ? call_allocate(c, 1, sizeof *reply) : NULL;
    if (reply && !call_has_ended(c) && batch_run(&b, forward_step, &t, batch_forces_size(&b))) {
        dynamics__v1__forward_dynamics_reply__init(reply);
        reply->samples = b.n;
        reply->n_a = b.n * b.nv;
        reply->a = batch_vectors(&b, t.result);
        c->reply.result_case = DYNAMICS__V1__REPLY__RESULT_FORWARD_DYNAMICS;
        c->reply.forward_dynamics = reply;
    }
    batch_close(&b);
}

static dyn_status mass_matrix_step(const batch *b, const batch_worker *w, const void *context, size_t first,
                                   size_t count, dyn_error *error) {
    const task *t = context;
    return dyn_crba(w->model, w->workspace, count, b->q + first * b->nq, error, t->result + first * b->nv * b->nv);
}

void method_mass_matrix(call *c) {
    const Dynamics__V1__MassMatrixRequest *r = c->request->mass_matrix;
    batch b;
    task t = {0};
    bool is_ready = batch_open(c, &b, r->query, MATRIX_PARTS, r->n_q, r->q);
    if (is_ready) {
        double nv = (double)b.nv;
        batch_expect(&b, b.nv * b.nv);
        is_ready = batch_begin(&b, (RECURSION_COST + MATRIX_COST * nv) * nv);
    }
    Dynamics__V1__MassMatrixReply *reply = is_ready ? call_allocate(c, 1, sizeof *reply) : NULL;
    if (reply) {
        t.result = batch_output(&b, b.nv * b.nv);
    }
    if (t.result && batch_run(&b, mass_matrix_step, &t, 0)) {
        dynamics__v1__mass_matrix_reply__init(reply);
        reply->samples = b.n;
        reply->nv = (uint32_t)b.nv;
        reply->n_mass_matrix = b.n * b.nv * b.nv;
        reply->mass_matrix = batch_matrices(&b, t.result);
        c->reply.result_case = DYNAMICS__V1__REPLY__RESULT_MASS_MATRIX;
        c->reply.mass_matrix = reply;
    }
    batch_close(&b);
}

static dyn_status gravity_step(const batch *b, const batch_worker *w, const void *context, size_t first, size_t count,
                               dyn_error *error) {
    const task *t = context;
    return dyn_gravity(w->model, w->workspace, count, b->gravity, b->q + first * b->nq, error,
                       t->result + first * b->nv);
}

void method_gravity(call *c) {
    const Dynamics__V1__GravityRequest *r = c->request->gravity;
    batch b;
    task t = {0};
    bool is_ready = batch_open(c, &b, r->query, FORCE_PARTS, r->n_q, r->q);
    if (is_ready) {
        batch_expect(&b, b.nv);
        is_ready = batch_begin(&b, RECURSION_COST * (double)b.nv);
    }
    Dynamics__V1__GravityReply *reply = is_ready ? call_allocate(c, 1, sizeof *reply) : NULL;
    if (reply) {
        t.result = batch_output(&b, b.nv);
    }
    if (t.result && batch_run(&b, gravity_step, &t, 0)) {
        dynamics__v1__gravity_reply__init(reply);
        reply->samples = b.n;
        reply->n_g = b.n * b.nv;
        reply->g = batch_vectors(&b, t.result);
        c->reply.result_case = DYNAMICS__V1__REPLY__RESULT_GRAVITY;
        c->reply.gravity = reply;
    }
    batch_close(&b);
}

static dyn_status bias_step(const batch *b, const batch_worker *w, const void *context, size_t first, size_t count,
                            dyn_error *error) {
    const task *t = context;
    return dyn_bias(w->model, w->workspace, count, b->gravity, b->q + first * b->nq, motion_rows(t->m.v, b->nv, first),
                    error, t->result + first * b->nv);
}

void method_bias_forces(call *c) {
    const Dynamics__V1__BiasForcesRequest *r = c->request->bias_forces;
    batch b;
    task t = {0};
    bool is_ready = batch_open(c, &b, r->query, FORCE_PARTS, r->n_q, r->q) && batch_check(&b, "v", r->n_v);
    if (is_ready) {
        batch_expect(&b, b.nv);
        is_ready = batch_begin(&b, RECURSION_COST * (double)b.nv);
    }
    Dynamics__V1__BiasForcesReply *reply = is_ready ? call_allocate(c, 1, sizeof *reply) : NULL;
    if (reply) {
        t.m.v = batch_input(&b, r->n_v, r->v);
        t.result = batch_output(&b, b.nv);
    }
    if (reply && !call_has_ended(c) && batch_run(&b, bias_step, &t, 0)) {
        dynamics__v1__bias_forces_reply__init(reply);
        reply->samples = b.n;
        reply->n_h = b.n * b.nv;
        reply->h = batch_vectors(&b, t.result);
        c->reply.result_case = DYNAMICS__V1__REPLY__RESULT_BIAS_FORCES;
        c->reply.bias_forces = reply;
    }
    batch_close(&b);
}
