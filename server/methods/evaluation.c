/* SPDX-License-Identifier: BSD-2-Clause */
/* Evaluation: computes quantities for the samples of a batch. */
#include "methods/evaluation.h"

#include <dynamics/constraint.h>
#include <dynamics/contact.h>

#include "methods/constraints.h"
#include "methods/formulated_quantity.h"
#include "methods/given_rows.h"
#include "methods/motion_agreement.h"
#include "methods/passive_forces.h"
#include "methods/quantity_layout.h"

/* Largest number of a thread's scratch values, unless one sample needs more. */
enum { SCRATCH_VALUES = 1 << 20 };

/* Most samples of a block with contacts, each of which takes long. */
enum { CONTACT_SAMPLES = 32 };

/* Estimated cost of a step with contacts, for each surface, ns. */
static const double CONTACT_COST = 6000;

/* Output of a library function, the result that it fills, and where the function writes it. */
typedef struct task_output {
    evaluation_result *result; /* NULL: not requested */
    size_t width;              /* values of one sample as the library writes them */
    bool is_direct;            /* the library writes into the result */
    bool is_scratch;           /* the library writes into the thread's scratch memory */
} task_output;

/* Library function to run for one place, with its outputs. */
struct evaluation_task {
    const computation *by;
    quantity_place at;
    task_output outputs[COMPUTATION_OUTPUTS];
};

const char *const state_array_names[STATE_ARRAYS] = {
    [STATE_V] = "v",   [STATE_A] = "a",   [STATE_TAU] = "tau",   [STATE_DQ] = "dq",
    [STATE_DV] = "dv", [STATE_DA] = "da", [STATE_DTAU] = "dtau",
};

/* ---- the question ------------------------------------------------------------------------------------------------ */

query_parts evaluation_parts(unsigned inputs) {
    return QUERY_JOINT_NAMES | QUERY_PRECISION | QUERY_ON_ERROR | QUERY_CONSTRAINTS |
           (inputs & USES_GRAVITY ? QUERY_GRAVITY : 0) | (inputs & USES_FORCES ? QUERY_FORCES : 0) |
           (inputs & USES_PAYLOADS ? QUERY_PAYLOADS : 0) | (inputs & USES_PASSIVE_FORCES ? QUERY_PASSIVE_FORCES : 0) |
           (inputs & USES_BASE ? QUERY_BASE_MOTION : 0) | (inputs & USES_MOTION ? QUERY_MOTION_OPTIONS : 0) |
           (inputs & USES_CONSTRAINTS ? QUERY_ADDED_CONSTRAINTS | QUERY_ROWS | QUERY_TIME : 0);
}

/* Returns whether a formulation computes the quantities. */
static bool is_formulated(const batch *b) {
    return b->query->formulation[0] != '\0';
}

bool evaluation_open(batch *b, evaluation *e, size_t most_results) {
    *e = (evaluation){.slot_count = 2};
    while (e->slot_count <= most_results) {
        e->slot_count *= 2;
    }
    e->results = call_allocate(b->call, most_results, sizeof *e->results);
    e->tasks = call_allocate(b->call, most_results, sizeof *e->tasks);
    e->slots = call_allocate(b->call, e->slot_count, sizeof *e->slots);
    return !call_has_ended(b->call);
}

static bool is_same_place(const quantity_place *a, const quantity_place *b) {
    return a->frame == b->frame && a->reference_frame == b->reference_frame && a->subtree == b->subtree &&
           a->restitution == b->restitution &&
           (a->task == b->task || (a->task && b->task && task_rows_are_equal(a->task, b->task)));
}

static size_t hash(const computation *by, const quantity_place *at) {
    uint64_t mixed = (uint64_t)(uintptr_t)by;
    mixed = (mixed ^ (uint64_t)(unsigned)at->frame) * 0x9e3779b97f4a7c15u;
    mixed = (mixed ^ (uint64_t)at->reference_frame ^ (uint64_t)(unsigned)at->subtree << 2) * 0x9e3779b97f4a7c15u;
    return (size_t)(mixed >> 32);
}

/* Returns the task that runs a computation for a place. Adds the task and its cost to the evaluation if there is
 * none. */
static evaluation_task *find_task(batch *b, evaluation *e, const computation *by, const quantity_place *at) {
    size_t slot = hash(by, at) & (e->slot_count - 1);
    for (; e->slots[slot] != 0; slot = (slot + 1) & (e->slot_count - 1)) {
        evaluation_task *t = &e->tasks[e->slots[slot] - 1];
        if (t->by == by && is_same_place(&t->at, at)) {
            return t;
        }
    }
    double nv = (double)b->nv, rows = (double)given_rows_total(b), size = nv + rows + 25;
    evaluation_task *t = &e->tasks[e->task_count++];
    e->slots[slot] = (uint32_t)e->task_count;
    e->cost += (by->linear + (by->quadratic + (by->cubic + by->quartic * nv) * nv) * nv) * nv;
    e->cost += rows > 0 ? by->constrained * nv * size * size : 0;
    e->cost += by->has_contact_step ? CONTACT_COST * dyn_model_contact_surface_count(b->model) : 0;
    e->cost += is_formulated(b) ? FORMULATED_STATE_COST : 0;
    t->by = by;
    t->at = *at;
    return t;
}

/* Refuses the motion of the base for a quantity that depends on it and does not count it. */
static bool check_base(const batch *b, const char *name, unsigned inputs, refusal *why) {
    const unsigned of_motion = USES_V | USES_A | USES_TAU | USES_DQ | USES_DV | USES_DA | USES_DTAU;
    return !b->query->base_motion || inputs & USES_BASE || !(inputs & of_motion) ||
           refuse(why, REASON_UNUSED_FIELD, "query.base_motion",
                  "%s does not count the motion of the base; leave it out, or ask for the quantity without it", name);
}

/* Refuses rows of the request for quantities that need more of their matrix than its value at the states. */
static bool check_rows(const batch *b, const char *name, const computation *by, refusal *why) {
    const char *needed = by->differentiates_rows ? "the derivatives of the rows"
                         : by->has_contact_step  ? "the rows over a step of time"
                                                 : NULL;
    return b->given.count == 0 || !needed ||
           refuse(why, REASON_CONFLICTING_FIELDS, "query.rows",
                  "%s needs %s, which the request states at its states alone; leave rows out, or state a constraint in "
                  "query.constraints",
                  name, needed);
}

/* Refuses a model without contact surfaces. */
static bool check_surfaces(const batch *b, const char *name, refusal *why) {
    return dyn_model_contact_surface_count(b->model) > 0 ||
           refuse(why, REASON_MODEL_UNSUITABLE, "query.model",
                  "model \"%s\" has no contact surfaces, which %s is of; ask for a model with contact surfaces",
                  b->entry->name, name);
}

bool evaluation_set_contact_step(batch *b, evaluation *e, double length) {
    if (!contact_stepper_check(b, length)) {
        return false;
    }
    contact_stepper_options(b, length, e->contact_steps);
    for (size_t i = 0; i < e->task_count; i++) {
        const computation *by = e->tasks[i].by;
        int used = by->is_impact ? CONTACT_IMPACT : CONTACT_STEP;
        if (by->has_contact_step) {
            b->simulations[used] = &e->contact_steps[used];
        }
    }
    return true;
}

bool evaluation_check(batch *b, Dynamics__V1__Quantity number) {
    refusal why = {0};
    const char *name = protobuf_c_enum_descriptor_get_value(&dynamics__v1__quantity__descriptor, (int)number)->name;
    const computation *by = quantity_find(number)->by;
    if (check_base(b, name, quantity_find(number)->inputs, &why) && check_rows(b, name, by, &why) &&
        (!by->is_of_constraints || b->given.count > 0 || constraints_are_present(b->entry, name, &why)) &&
        (!by->is_of_contacts || check_surfaces(b, name, &why))) {
        return true;
    }
    call_refuse(b->call, &why);
    return false;
}

bool evaluation_add(batch *b, evaluation *e, Dynamics__V1__Quantity number, const quantity_place *at) {
    const quantity_row *of = quantity_find(number);
    task_output *output = &find_task(b, e, of->by, at)->outputs[of->output];
    if (output->result) {
        return false;
    }
    output->result = &e->results[e->result_count++];
    *output->result = (evaluation_result){.number = number, .of = of, .at = *at};
    batch_expect(b, quantity_width(b, at, of));
    return true;
}

/* Checks that each array has n rows of nv values, or none. Otherwise ends the call and returns false. */
static bool check_arrays(batch *b, const sent_array arrays[STATE_ARRAYS]) {
    bool is_right = true;
    for (int i = 0; is_right && i < STATE_ARRAYS; i++) {
        is_right = batch_check(b, state_array_names[i], arrays[i].count);
    }
    return is_right;
}

/* ---- the work ---------------------------------------------------------------------------------------------------- */

/* Converts the arrays to the model's order. Returns false, and the call has ended, when out of memory. */
static bool read_arrays(batch *b, evaluation *e, const sent_array arrays[STATE_ARRAYS]) {
    for (int i = 0; i < STATE_ARRAYS; i++) {
        e->arrays[i] = batch_input(b, arrays[i].count, arrays[i].values);
    }
    return !call_has_ended(b->call);
}

/* Returns whether a result depends on the agreement of motions with constraints. */
static bool has_agreement(const batch *b, const evaluation *e) {
    bool has_motion = false;
    for (size_t i = 0; i < e->result_count && given_rows_total(b) > 0 && !is_formulated(b); i++) {
        has_motion = has_motion || e->results[i].of->inputs & USES_MOTION;
    }
    return has_motion;
}

/* Allocates the values of all results. Returns false, and the call has ended, when out of memory. */
static bool create_values(batch *b, evaluation *e) {
    e->agreement = has_agreement(b, e) ? call_allocate(b->call, b->n, sizeof *e->agreement) : NULL;
    for (size_t i = 0; i < e->result_count && !call_has_ended(b->call); i++) {
        evaluation_result *r = &e->results[i];
        for (size_t k = 0; k < QUANTITY_BLOCKS && r->of->blocks[k].name; k++) {
            r->values[k] = batch_output(b, quantity_block_size(b, &r->at, &r->of->blocks[k]));
        }
    }
    return !call_has_ended(b->call);
}

/* Decides where the library writes each output of a task: into its result, into scratch memory, or nowhere. */
static void connect_outputs(const batch *b, evaluation *e, evaluation_task *t) {
    size_t scratch = 0;
    for (int k = 0; k < COMPUTATION_OUTPUTS; k++) {
        task_output *output = &t->outputs[k];
        bool is_there = k < t->by->yields || t->by->along[k - t->by->yields];
        if (output->result && quantity_is_direct(b, &t->at, output->result->of)) {
            output->is_direct = true;
            output->width = quantity_width(b, &t->at, output->result->of);
        } else if (output->result || (t->by->needs_all && is_there)) {
            output->is_scratch = true;
            output->width = quantity_width(b, &t->at, quantity_of_output(t->by, k));
            scratch += output->width;
        }
    }
    e->scratch_values = scratch > e->scratch_values ? scratch : e->scratch_values;
}

/* Runs a task for the states `s`, with the formulation `by` if there is one. */
static dyn_status run_task(const batch *b, const evaluation_task *t, states *s, dyn_formulation *by, double *scratch,
                           dyn_error *error) {
    size_t first = s->first;
    double *outputs[COMPUTATION_OUTPUTS] = {0};
    for (int k = 0; k < COMPUTATION_OUTPUTS; k++) {
        const task_output *output = &t->outputs[k];
        if (output->is_direct) {
            outputs[k] = output->result->values[0] + first * output->width;
        } else if (output->is_scratch) {
            outputs[k] = scratch;
            scratch += s->count * output->width;
        }
    }
    s->at = t->at;
    dyn_status status = by ? formulated_quantity(s, by, t->outputs[0].result->number, scratch, outputs[0], error)
                           : t->by->run(s, error, outputs);
    for (int k = 0; status == DYN_OK && k < COMPUTATION_OUTPUTS; k++) {
        const evaluation_result *result = t->outputs[k].result;
        if (result && t->outputs[k].is_scratch) {
            quantity_copy(b, &t->at, result->of, first, s->count, outputs[k], result->values);
        }
    }
    return status;
}

/* Returns the numbers of scratch memory that the losses of gears need for `count` samples; 0: they do not count. */
static size_t gear_numbers(const batch *b, size_t count) {
    return passive_forces_gear_numbers(b->model, &b->values.passive, count);
}

/* Returns whether the states add forces to tau: those of the base, passive forces or losses of gears. */
static bool adds_forces(const batch *b) {
    return b->base.twist || passive_forces_count(&b->values.passive) || gear_numbers(b, 1) > 0;
}

static dyn_status evaluate_step(const batch *b, const batch_worker *w, const void *context, size_t first, size_t count,
                                dyn_error *error) {
    const evaluation *e = context;
    dyn_external_forces forces;
    dyn_base_motion base;
    dyn_given_rows given;
    states s = {
        .model = w->model,
        .workspace = w->workspace,
        .first = first,
        .count = count,
        .q = b->q + first * b->nq,
        .v = motion_rows(e->arrays[STATE_V], b->nv, first),
        .a = motion_rows(e->arrays[STATE_A], b->nv, first),
        .tau = motion_rows(e->arrays[STATE_TAU], b->nv, first),
        .gravity = b->values.gravity,
        .forces = batch_forces(b, first, w->scratch, &forces),
        .passive = &b->values.passive,
        .given = given_rows_from(b, first, &given),
        .motion = &b->values.motion,
        .agreement = e->agreement ? e->agreement + first : NULL,
        .base = batch_base(b, first, &base),
        .dq = motion_rows(e->arrays[STATE_DQ], b->nv, first),
        .dv = motion_rows(e->arrays[STATE_DV], b->nv, first),
        .da = motion_rows(e->arrays[STATE_DA], b->nv, first),
        .dtau = motion_rows(e->arrays[STATE_DTAU], b->nv, first),
    };
    /* Scratch memory follows the list of forces: for steps with contacts, for the forces of a moving base, for
     * losses of gears, and for results unless all are direct. */
    double *scratch = w->scratch ? (double *)w->scratch + batch_forces_size(b) / sizeof(double) : NULL;
    dyn_status status = DYN_OK;
    contact_stepper contacts;
    if (contact_stepper_is_used(b)) {
        contacts = contact_stepper_at(b, w, scratch);
        s.contacts = &contacts;
        scratch += contact_stepper_size(b, count) / sizeof(double);
    }
    if (s.base) {
        s.base_forces = scratch;
        scratch += count * b->nv;
        status = dyn_base_forces(s.model, s.workspace, count, s.q, s.v, s.base, s.base_forces, NULL, error);
    }
    if (gear_numbers(b, 1) > 0) {
        s.gear_losses = scratch;
        scratch += gear_numbers(b, count);
    }
    if (adds_forces(b)) {
        s.added_scratch = scratch;
        scratch += added_scratch_size(w->model, count);
    }
    dyn_formulation *by = NULL;
    if (status == DYN_OK && is_formulated(b)) {
        status = dyn_formulation_create(w->model, b->query->formulation, &by, error);
    }
    for (size_t i = 0; status == DYN_OK && i < e->task_count; i++) {
        status = run_task(b, &e->tasks[i], &s, by, scratch, error);
    }
    dyn_formulation_free(by);
    return status;
}

/* Chooses blocks small enough for SCRATCH_VALUES, and sets `scratch` to the bytes of scratch memory of a thread.
 * Returns false, and the call has ended, if one sample needs more than limits.reply_bytes. */
static bool size_blocks(batch *b, const evaluation *e, size_t *scratch) {
    uint64_t limit = atomic_load(&b->call->service->limits->reply_bytes);
    size_t gears = gear_numbers(b, 1), values = e->scratch_values + gears > 0 ? e->scratch_values + gears : 1;
    if ((double)values * sizeof(double) > (double)limit) {
        call_blame(b->call, "q");
        call_fail(b->call, REASON_REPLY_TOO_LARGE,
                  "the results take %zu MB of memory for one sample of model \"%s\"; the limit is %llu MB "
                  "(limits.reply_bytes)",
                  values * sizeof(double) / 1000000, b->entry->name, (unsigned long long)limit / 1000000);
        call_set_limit(b->call, BOUND_REPLY_BYTES, limit, values * sizeof(double));
        return false;
    }
    size_t samples = SCRATCH_VALUES / values;
    b->block_size = samples < 1 ? 1 : samples > BLOCK_SAMPLES ? BLOCK_SAMPLES : samples;
    b->block_size = contact_stepper_is_used(b) && b->block_size > CONTACT_SAMPLES ? CONTACT_SAMPLES : b->block_size;
    b->block_size = is_formulated(b) && b->block_size > FORMULATED_STATES ? FORMULATED_STATES : b->block_size;
    samples = b->n < b->block_size ? b->n : b->block_size;
    size_t of_base = b->base.twist ? samples * b->nv : 0;
    size_t of_added = adds_forces(b) ? added_scratch_size(b->model, samples) : 0;
    size_t of_contacts = contact_stepper_is_used(b) ? contact_stepper_size(b, samples) : 0;
    size_t of_formulation = is_formulated(b) ? samples * b->nv : 0;
    *scratch =
        batch_forces_size(b) + of_contacts +
        (gear_numbers(b, samples) + samples * e->scratch_values + of_base + of_added + of_formulation) * sizeof(double);
    return true;
}

/* Fills the rows of failed samples with NaN. */
static void mark_values(const batch *b, const evaluation *e) {
    for (size_t i = 0; i < e->result_count; i++) {
        const evaluation_result *r = &e->results[i];
        for (size_t k = 0; k < QUANTITY_BLOCKS && r->of->blocks[k].name; k++) {
            batch_mark_rows(b, quantity_block_size(b, &r->at, &r->of->blocks[k]), r->values[k]);
        }
    }
}

bool evaluation_run(batch *b, evaluation *e, const sent_array arrays[STATE_ARRAYS]) {
    size_t scratch;
    batch_expect(b, has_agreement(b, e) ? AGREEMENT_NUMBERS : 0);
    if (!check_arrays(b, arrays) || !batch_begin(b, e->cost) || !read_arrays(b, e, arrays) || !create_values(b, e)) {
        return false;
    }
    for (size_t i = 0; i < e->task_count; i++) {
        connect_outputs(b, e, &e->tasks[i]);
    }
    if (!size_blocks(b, e, &scratch) || !batch_run(b, evaluate_step, e, scratch)) {
        return false;
    }
    mark_values(b, e);
    return true;
}
