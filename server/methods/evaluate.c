/* SPDX-License-Identifier: BSD-2-Clause */
/* Evaluate: any set of quantities for the same states. */
#include <dynamics/dynamics.h>

#include "methods/computations.h"
#include "methods/coordinates.h"
#include "methods/methods.h"
#include "methods/quantity_result.h"
#include "methods/task_rows.h"
#include "methods/text.h"

/* Numbers of quantities are below QUANTITIES. A thread's results on their way to the reply are at most SCRATCH_VALUES,
 * or those of one sample. */
enum { QUANTITIES = 64, SCRATCH_VALUES = 1 << 20 };

/* One output of a library function, and the result that it fills. */
typedef struct task_output {
    Dynamics__V1__QuantityResult *result; /* NULL: not asked for */
    size_t width;                         /* values of one sample as the library writes them; 0: no such output */
    bool is_direct;                       /* the library writes into the reply */
} task_output;

/* One library function, for one frame where it is about frames. */
typedef struct task {
    const computation *computation;
    int frame;
    task_output outputs[COMPUTATION_OUTPUTS];
} task;

/* A request on its way. */
typedef struct evaluation {
    const Dynamics__V1__EvaluateRequest *request;
    motion m;
    const double *dq, *dv, *da, *dtau; /* NULL: zero */
    dyn_reference_frame reference_frame;
    int subtree; /* joint, or -1 */
    int *frames;
    task_rows rows; /* of the task, where a quantity is of one */
    bool is_wanted[QUANTITIES];
    size_t first_result[QUANTITIES]; /* where the quantity's results begin, one for each frame or one */
    size_t result_count;
    Dynamics__V1__QuantityResult **results;
    size_t task_count;
    task *tasks;
    size_t scratch_values; /* of one sample, that the largest task needs */
} evaluation;

/* ---- the question ------------------------------------------------------------------------------------------------ */

/* Checks that each quantity exists and is asked for once. */
static bool check_quantities(batch *b, evaluation *e) {
    const Dynamics__V1__EvaluateRequest *r = e->request;
    if (r->n_quantities == 0) {
        call_blame(b->call, "quantities");
        call_fail(b->call, REASON_MISSING_VALUE, "ask for at least one quantity");
        return false;
    }
    for (size_t i = 0; i < r->n_quantities; i++) {
        Dynamics__V1__Quantity quantity = r->quantities[i];
        call_blame(b->call, "quantities[%zu]", i);
        if (!quantity_find(quantity)) {
            call_fail(b->call, REASON_UNKNOWN_VALUE, "%d is no quantity that this daemon knows", (int)quantity);
            return false;
        }
        if (e->is_wanted[quantity]) {
            call_fail(b->call, REASON_DUPLICATE, "%s is asked for twice",
                      protobuf_c_enum_descriptor_get_value(&dynamics__v1__quantity__descriptor, (int)quantity)->name);
            return false;
        }
        e->is_wanted[quantity] = true;
        if (quantity_find(quantity)->of != OF_ROBOT && r->n_frames == 0) {
            call_blame(b->call, "frames");
            call_fail(b->call, REASON_MISSING_VALUE, "name at least one frame: %s is asked for",
                      protobuf_c_enum_descriptor_get_value(&dynamics__v1__quantity__descriptor, (int)quantity)->name);
            return false;
        }
    }
    return true;
}

/* Returns whether a quantity is of a task. */
static bool has_task(const evaluation *e) {
    bool found = false;
    for (size_t i = 0; i < e->request->n_quantities; i++) {
        found = found || quantity_find(e->request->quantities[i])->of == OF_TASK;
    }
    return found;
}

/* Finds the frames, each of which may be named once. */
static bool find_frames(batch *b, evaluation *e) {
    const Dynamics__V1__EvaluateRequest *r = e->request;
    char quoted[TEXT_QUOTE_SIZE];
    /* The world's frame is -1. */
    bool *is_named = call_allocate(b->call, (size_t)dyn_model_link_count(b->model) + 1, sizeof *is_named);
    e->frames = is_named ? call_allocate(b->call, r->n_frames, sizeof *e->frames) : NULL;
    for (size_t i = 0; e->frames && i < r->n_frames; i++) {
        call_blame(b->call, "frames[%zu]", i);
        if (!batch_find_frame(b, REASON_FRAME_NOT_FOUND, r->frames[i], &e->frames[i])) {
            return false;
        }
        if (is_named[e->frames[i] + 1]) {
            call_fail(b->call, REASON_DUPLICATE, "frame %s is named twice", text_quote(r->frames[i], quoted));
            return false;
        }
        is_named[e->frames[i] + 1] = true;
    }
    return e->frames != NULL;
}

/* Finds the joint whose load the centre of mass is of. */
static bool find_subtree(batch *b, evaluation *e) {
    char quoted[TEXT_QUOTE_SIZE];
    const char *name = e->request->subtree;
    e->subtree = name[0] ? dyn_model_find_joint(b->model, name) : -1;
    if (name[0] && e->subtree < 0) {
        text_guess guess = text_guess_start(name);
        for (int j = 0; j < dyn_model_joint_count(b->model); j++) {
            text_guess_consider(&guess, dyn_model_joint(b->model, j)->name);
        }
        call_blame(b->call, "subtree");
        call_fail(b->call, REASON_JOINT_NOT_FOUND, "model \"%s\" has no moving joint %s%s%s%s", b->entry->name,
                  text_quote(name, quoted), guess.closest ? "; did you mean \"" : "",
                  guess.closest ? guess.closest : "", guess.closest ? "\"?" : "");
        return false;
    }
    return true;
}

/* Checks all arguments but the numbers. */
static bool check_request(batch *b, evaluation *e) {
    const Dynamics__V1__EvaluateRequest *r = e->request;
    if (!batch_check(b, "v", r->n_v) || !batch_check(b, "a", r->n_a) || !batch_check(b, "tau", r->n_tau) ||
        !batch_check(b, "dq", r->n_dq) || !batch_check(b, "dv", r->n_dv) || !batch_check(b, "da", r->n_da) ||
        !batch_check(b, "dtau", r->n_dtau) || !check_quantities(b, e) || !find_frames(b, e) || !find_subtree(b, e)) {
        return false;
    }
    call_blame(b->call, "reference_frame");
    return batch_reference_frame(b, r->reference_frame, &e->reference_frame) &&
           (!has_task(e) ||
            task_rows_take(b, r->n_frames, e->frames, e->reference_frame, r->n_task_axes, r->task_axes, &e->rows));
}

/* ---- sizes ------------------------------------------------------------------------------------------------------- */

/* How many results a quantity has. */
static size_t result_count(const evaluation *e, const quantity_form *form) {
    return form->of == OF_FRAMES ? e->request->n_frames : 1;
}

/* Returns whether a computation yields something that is asked for; how many times it runs. */
static size_t run_count(const evaluation *e, const computation *of) {
    for (int k = 0; k < of->yields; k++) {
        if (e->is_wanted[of->outputs[k]]) {
            return result_count(e, quantity_find(of->outputs[k]));
        }
    }
    return 0;
}

/* Announces the reply; returns the cost of one sample, ns. */
static double expect(batch *b, evaluation *e) {
    double nv = (double)b->nv, cost = 0;
    for (size_t i = 0; i < e->request->n_quantities; i++) {
        const quantity_form *form = quantity_find(e->request->quantities[i]);
        e->first_result[e->request->quantities[i]] = e->result_count;
        e->result_count += result_count(e, form);
        batch_expect(b, quantity_width(b, form) * result_count(e, form));
    }
    for (size_t i = 0; i < computation_count; i++) {
        const computation *c = &computations[i];
        e->task_count += run_count(e, c);
        cost += (double)run_count(e, c) * (c->linear + (c->quadratic + (c->cubic + c->quartic * nv) * nv) * nv) * nv;
    }
    return cost;
}

/* All results in the order of the reply, with memory for their values. */
static bool create_results(batch *b, evaluation *e) {
    size_t count = 0;
    e->results = call_allocate(b->call, e->result_count, sizeof *e->results);
    for (size_t i = 0; e->results && i < e->request->n_quantities; i++) {
        Dynamics__V1__Quantity quantity = e->request->quantities[i];
        bool is_of_frames = quantity_find(quantity)->of == OF_FRAMES;
        for (size_t k = 0; !call_has_ended(b->call) && k < result_count(e, quantity_find(quantity)); k++) {
            e->results[count++] = quantity_result_create(b, quantity, is_of_frames ? e->request->frames[k] : NULL,
                                                         e->request->reference_frame);
        }
    }
    return !call_has_ended(b->call);
}

/* ---- the work ---------------------------------------------------------------------------------------------------- */

/* Connects the outputs of one task with the results that they fill. */
static void fill_task(batch *b, evaluation *e, const computation *c, size_t frame, task *t) {
    size_t scratch = 0;
    t->computation = c;
    for (int k = 0; k < COMPUTATION_OUTPUTS && c->outputs[k]; k++) {
        task_output *output = &t->outputs[k];
        output->width = quantity_width(b, quantity_find(c->outputs[k]));
        if (k < c->yields && e->is_wanted[c->outputs[k]]) {
            output->result = e->results[e->first_result[c->outputs[k]] + frame];
            output->is_direct = b->order.is_identity && output->result->n_blocks == 1;
        }
        if (!output->is_direct && (output->result || c->needs_all)) {
            scratch += output->width;
        }
    }
    if (quantity_find(c->outputs[0])->of == OF_FRAMES) {
        t->frame = e->frames[frame];
    }
    e->scratch_values = scratch > e->scratch_values ? scratch : e->scratch_values;
}

static bool create_tasks(batch *b, evaluation *e) {
    size_t count = 0;
    e->tasks = call_allocate(b->call, e->task_count, sizeof *e->tasks);
    for (size_t i = 0; e->tasks && i < computation_count; i++) {
        size_t runs = run_count(e, &computations[i]);
        for (size_t k = 0; k < runs; k++) {
            fill_task(b, e, &computations[i], k, &e->tasks[count++]);
        }
    }
    return e->tasks != NULL;
}

static dyn_status run_task(const batch *b, const task *t, states *s, size_t first, double *scratch, dyn_error *error) {
    double *outputs[COMPUTATION_OUTPUTS] = {0};
    for (int k = 0; k < COMPUTATION_OUTPUTS; k++) {
        const task_output *output = &t->outputs[k];
        if (output->is_direct) {
            outputs[k] = output->result->blocks[0]->values + first * output->width;
        } else if (output->result || t->computation->needs_all) {
            outputs[k] = scratch;
            scratch += s->count * output->width;
        }
    }
    s->frame = t->frame;
    dyn_status status = t->computation->run(s, error, outputs);
    for (int k = 0; status == DYN_OK && k < COMPUTATION_OUTPUTS; k++) {
        if (t->outputs[k].result && !t->outputs[k].is_direct) {
            quantity_result_fill(b, t->outputs[k].result, first, s->count, outputs[k]);
        }
    }
    return status;
}

static dyn_status evaluate_step(const batch *b, const batch_worker *w, const void *context, size_t first, size_t count,
                                dyn_error *error) {
    const evaluation *e = context;
    dyn_external_forces forces;
    states s = {
        .model = w->model,
        .workspace = w->workspace,
        .count = count,
        .q = b->q + first * b->nq,
        .v = motion_rows(e->m.v, b->nv, first),
        .a = motion_rows(e->m.a, b->nv, first),
        .tau = motion_rows(e->m.tau, b->nv, first),
        .gravity = b->gravity,
        .forces = batch_forces(b, first, w->scratch, &forces),
        .reference_frame = e->reference_frame,
        .task = &e->rows.task,
        .subtree = e->subtree,
        .dq = motion_rows(e->dq, b->nv, first),
        .dv = motion_rows(e->dv, b->nv, first),
        .da = motion_rows(e->da, b->nv, first),
        .dtau = motion_rows(e->dtau, b->nv, first),
    };
    /* Behind the list of forces; there is none where all results go straight into the reply. */
    double *scratch = e->scratch_values ? (double *)w->scratch + batch_forces_size(b) / sizeof(double) : NULL;
    dyn_status status = DYN_OK;
    for (size_t i = 0; status == DYN_OK && i < e->task_count; i++) {
        status = run_task(b, &e->tasks[i], &s, first, scratch, error);
    }
    return status;
}

/* ---- the answer -------------------------------------------------------------------------------------------------- */

/* The link that each moving joint carries; empty where no axis runs over them. */
static void name_bodies(batch *b, const evaluation *e, Dynamics__V1__EvaluateReply *reply) {
    if (e->is_wanted[DYNAMICS__V1__QUANTITY__QUANTITY_TORQUE_REGRESSOR] ||
        e->is_wanted[DYNAMICS__V1__QUANTITY__QUANTITY_ENERGY_REGRESSOR] ||
        e->is_wanted[DYNAMICS__V1__QUANTITY__QUANTITY_JOINT_WRENCHES]) {
        size_t count = (size_t)dyn_model_joint_count(b->model);
        reply->bodies = call_allocate(b->call, count, sizeof *reply->bodies);
        for (size_t i = 0; reply->bodies && i < count; i++) {
            int link = dyn_model_joint(b->model, (int)i)->child_link;
            reply->bodies[i] = (char *)(uintptr_t)dyn_model_link(b->model, link)->name;
        }
        reply->n_bodies = count;
    }
}

/* Chooses blocks small enough for the threads' scratch memory, and its size. False, and the call ended, where one
 * sample needs too much. */
static bool size_blocks(batch *b, const evaluation *e, size_t *scratch) {
    uint64_t limit = atomic_load(&b->call->service->limits->reply_bytes);
    size_t values = e->scratch_values ? e->scratch_values : 1;
    if ((double)values * sizeof(double) > (double)limit) {
        call_blame(b->call, "quantities");
        call_fail(b->call, REASON_REPLY_TOO_LARGE,
                  "these quantities take %zu MB of memory for one sample of model \"%s\"; the limit is %llu MB "
                  "(limits.reply_bytes)",
                  values * sizeof(double) / 1000000, b->entry->name, (unsigned long long)limit / 1000000);
        call_tell_limit(b->call, limit, values * sizeof(double));
        return false;
    }
    size_t samples = SCRATCH_VALUES / values;
    b->block_size = samples < 1 ? 1 : samples > BLOCK_SAMPLES ? BLOCK_SAMPLES : samples;
    samples = b->n < b->block_size ? b->n : b->block_size;
    *scratch = batch_forces_size(b) + samples * e->scratch_values * sizeof(double);
    return true;
}

/* Takes the inputs, computes and answers. */
static void compute(batch *b, evaluation *e) {
    call *c = b->call;
    const Dynamics__V1__EvaluateRequest *r = e->request;
    e->m.v = batch_input(b, r->n_v, r->v);
    e->m.a = batch_input(b, r->n_a, r->a);
    e->m.tau = batch_input(b, r->n_tau, r->tau);
    e->dq = batch_input(b, r->n_dq, r->dq);
    e->dv = batch_input(b, r->n_dv, r->dv);
    e->da = batch_input(b, r->n_da, r->da);
    e->dtau = batch_input(b, r->n_dtau, r->dtau);
    Dynamics__V1__EvaluateReply *reply = call_allocate(c, 1, sizeof *reply);
    if (!create_results(b, e) || !create_tasks(b, e) || call_has_ended(c)) {
        return;
    }
    size_t scratch;
    if (!size_blocks(b, e, &scratch) || !batch_run(b, evaluate_step, e, scratch)) {
        return;
    }
    dynamics__v1__evaluate_reply__init(reply);
    reply->samples = b->n;
    reply->nv = (uint32_t)b->nv;
    char **units;
    if (coordinates_name(b, &reply->joints, &units)) {
        reply->n_joints = b->nv;
    }
    name_bodies(b, e, reply);
    if (has_task(e)) {
        reply->task = task_rows_name(b, &e->rows, r->frames);
        reply->n_task = reply->task ? b->task_rows : 0;
    }
    reply->n_results = e->result_count;
    reply->results = e->results;
    if (!call_has_ended(c)) {
        c->reply.result_case = DYNAMICS__V1__REPLY__RESULT_EVALUATE;
        c->reply.evaluate = reply;
    }
}

void method_evaluate(call *c) {
    const Dynamics__V1__EvaluateRequest *r = c->request->evaluate;
    batch b;
    evaluation e = {.request = r};
    if (batch_open(c, &b, r->query, QUERY_ALL, r->n_q, r->q) && check_request(&b, &e) &&
        batch_begin(&b, expect(&b, &e))) {
        compute(&b, &e);
    }
    batch_close(&b);
}
