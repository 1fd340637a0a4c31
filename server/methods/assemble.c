/* SPDX-License-Identifier: BSD-2-Clause */
/* Assemble: computes configurations that close the loops of a model. */
#include <dynamics/dynamics.h>
#include <math.h>

#include "methods/batch.h"
#include "methods/lookup.h"
#include "methods/methods.h"

/* Largest iteration limit of a request. */
enum { MOST_ITERATIONS = 10000 };

/* Options and results of a batch, in the model's order. */
typedef struct assembly_task {
    dyn_assembly_options options;
    double *q;
    dyn_assembly_result *results;
} assembly_task;

/* ---- the question ------------------------------------------------------------------------------------------------ */

static bool check_model(batch *b) {
    if (dyn_model_constraint_count(b->model) > 0) {
        return true;
    }
    call_blame(b->call, "query.model");
    call_fail(b->call, REASON_MODEL_UNSUITABLE,
              "model \"%s\" has no constraints, so that every configuration closes them; name another model",
              b->entry->name);
    return false;
}

/* Marks the velocities of the joints that the request holds. Returns false, and the call has ended, if one is unknown
 * or has no velocity. */
static bool read_held(batch *b, const Dynamics__V1__AssembleRequest *r, assembly_task *t) {
    bool *held = call_allocate(b->call, b->nv, sizeof *held);
    for (size_t i = 0; held && i < r->n_held_joints; i++) {
        refusal why = {0};
        int number;
        call_blame(b->call, "held_joints[%zu]", i);
        if (!lookup_joint(b->entry, "", r->held_joints[i], &number, &why)) {
            call_refuse(b->call, &why);
            return false;
        }
        const dyn_joint *joint = dyn_model_joint(b->model, number);
        if (joint->nv == 0) {
            call_fail(b->call, REASON_INVALID_VALUE, "joint \"%s\" follows joint \"%s\"; hold that one", joint->name,
                      dyn_model_joint(b->model, joint->master)->name);
            return false;
        }
        for (int k = 0; k < joint->nv; k++) {
            held[joint->v_index + k] = true;
        }
    }
    t->options.held = r->n_held_joints > 0 ? held : NULL;
    return !call_has_ended(b->call);
}

static bool read_options(batch *b, const Dynamics__V1__AssembleRequest *r, assembly_task *t) {
    t->options = (dyn_assembly_options)DYN_ASSEMBLY_OPTIONS_INIT(.tolerance = r->tolerance);
    if (!(r->tolerance >= 0) || !isfinite(r->tolerance)) {
        call_blame(b->call, "tolerance");
        call_fail(b->call, REASON_INVALID_VALUE, "the tolerance is %g; pass a finite number that is not negative",
                  r->tolerance);
        return false;
    }
    if (r->iteration_limit > MOST_ITERATIONS) {
        call_blame(b->call, "iteration_limit");
        call_fail(b->call, REASON_INVALID_VALUE, "the limit is %u iterations; pass at most %d", r->iteration_limit,
                  MOST_ITERATIONS);
        return false;
    }
    t->options.iteration_limit = (int)r->iteration_limit;
    return read_held(b, r, t);
}

/* ---- the work ---------------------------------------------------------------------------------------------------- */

static dyn_status step(const batch *b, const batch_worker *w, const void *context, size_t first, size_t count,
                       dyn_error *error) {
    const assembly_task *t = context;
    return dyn_assemble(w->model, w->workspace, count, b->q + first * b->nq, &t->options, t->q + first * b->nq,
                        t->results + first, error);
}

/* Estimates the cost of one sample, ns, for ten iterations. */
static double cost(const batch *b) {
    double nv = (double)b->nv, m = (double)dyn_model_constraint_rows(b->model);
    return 10 * (200 * nv + m * m * nv + m * m * m + 1000);
}

/* ---- the answer -------------------------------------------------------------------------------------------------- */

static void answer(batch *b, const assembly_task *t) {
    Dynamics__V1__AssembleReply *reply = create_assemble_reply(b->call);
    Dynamics__V1__AssemblyOutcome *outcomes = call_allocate(b->call, b->n, sizeof *outcomes);
    Dynamics__V1__AssemblyOutcome **list = call_allocate(b->call, b->n, sizeof *list);
    if (call_has_ended(b->call)) {
        return;
    }
    reply->samples = b->n;
    reply->n_q = b->n * b->nq;
    reply->q = batch_ordered_configurations(b, t->q);
    reply->n_outcomes = b->n;
    reply->outcomes = list;
    for (size_t i = 0; i < b->n; i++) {
        const dyn_assembly_result *from = &t->results[i];
        list[i] = &outcomes[i];
        dynamics__v1__assembly_outcome__init(list[i]);
        list[i]->is_closed = from->is_closed;
        list[i]->iterations = (uint32_t)from->iterations;
        list[i]->constraint = call_string(b->call, dyn_model_constraint(b->model, from->constraint)->name);
        list[i]->error = from->error;
    }
}

void method_assemble(call *c) {
    /* Samples between two checks of the deadline. */
    enum { FEW_SAMPLES = 8 };
    const Dynamics__V1__AssembleRequest *r = c->request->assemble;
    batch b;
    assembly_task t = {.q = NULL};
    const query_parts parts = QUERY_JOINT_NAMES | QUERY_CONSTRAINTS | QUERY_ADDED_CONSTRAINTS | QUERY_TIME;
    bool is_ready = batch_open(c, &b, r->query, parts, r->n_q, r->q) && check_model(&b) && read_options(&b, r, &t);
    if (is_ready) {
        b.block_size = FEW_SAMPLES;
        batch_expect(&b, b.nq + 4);
    }
    if (is_ready && batch_begin(&b, cost(&b))) {
        t.q = batch_output(&b, b.nq);
        t.results = call_allocate(c, b.n, sizeof *t.results);
        if (!call_has_ended(c) && batch_run(&b, step, &t, 0)) {
            answer(&b, &t);
        }
    }
    batch_close(&b);
}
