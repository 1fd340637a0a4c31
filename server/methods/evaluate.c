/* SPDX-License-Identifier: BSD-2-Clause */
/* Evaluate: computes a set of quantities for the same states. */
#include "methods/evaluation.h"
#include "methods/formulated_quantity.h"
#include "methods/formulation.h"
#include "methods/geometry.h"
#include "methods/given_rows.h"
#include "methods/lookup.h"
#include "methods/methods.h"
#include "methods/motion_agreement.h"
#include "methods/passive_forces.h"
#include "methods/quantity_result.h"
#include "methods/text.h"

/* Default of contact_step, s. */
static const double STANDARD_CONTACT_STEP = 0.001;

/* Request, and the counts and tasks of its quantities. */
typedef struct question {
    const Dynamics__V1__EvaluateRequest *request;
    unsigned inputs;       /* flags quantity_input of all quantities */
    bool has_contact_step; /* a quantity is of contacts in a step */
    size_t result_count, task_count;
    task_rows *tasks;  /* tasks of the request, in sequence */
    size_t tasks_read; /* number of tasks read so far */
} question;

/* ---- what is asked for ------------------------------------------------------------------------------------------- */

static const char *name_of(const Dynamics__V1__QuantityRequest *requested) {
    return protobuf_c_enum_descriptor_get_value(&dynamics__v1__quantity__descriptor, (int)requested->quantity)->name;
}

/* Returns the parts of the query that the quantities depend on; all parts if a quantity is unknown, which is refused
 * later. */
static query_parts find_parts(const Dynamics__V1__EvaluateRequest *r) {
    unsigned inputs = 0;
    for (size_t i = 0; i < r->n_quantities; i++) {
        const quantity_row *of = quantity_find(r->quantities[i]->quantity);
        if (!of) {
            return QUERY_ALL | QUERY_FORMULATION;
        }
        inputs |= of->inputs;
    }
    return r->n_quantities == 0                   ? QUERY_ALL | QUERY_FORMULATION
           : r->query && r->query->formulation[0] ? formulation_parts(inputs)
                                                  : evaluation_parts(inputs);
}

/* Checks the number of quantities and that each is known. Collects their inputs and counts their results and tasks.
 * Returns false when the call has ended. */
static bool check_quantities(call *c, question *q) {
    const Dynamics__V1__EvaluateRequest *r = q->request;
    call_blame(c, "quantities");
    if (r->n_quantities == 0) {
        call_fail(c, REASON_MISSING_VALUE, "ask for at least one quantity");
        return false;
    }
    if (r->n_quantities > MOST_QUANTITIES) {
        call_fail(c, REASON_TOO_MANY_ENTRIES,
                  "there are %zu quantities; at most %d are allowed: ask for them in several requests", r->n_quantities,
                  MOST_QUANTITIES);
        call_set_limit(c, BOUND_QUANTITIES, MOST_QUANTITIES, r->n_quantities);
        return false;
    }
    for (size_t i = 0; i < r->n_quantities; i++) {
        const quantity_row *of = quantity_find(r->quantities[i]->quantity);
        if (!of) {
            call_blame(c, "quantities[%zu].quantity", i);
            call_fail(c, REASON_UNKNOWN_VALUE, "%d is no quantity that this daemon knows",
                      (int)r->quantities[i]->quantity);
            return false;
        }
        q->inputs |= of->inputs;
        q->result_count += of->of == OF_FRAMES ? r->quantities[i]->n_frames : 1;
        q->task_count += of->of == OF_TASK;
        q->has_contact_step = q->has_contact_step || of->by->has_contact_step;
    }
    return true;
}

/* Refuses arrays that no quantity depends on. */
static bool check_arrays(call *c, const question *q, const sent_array arrays[STATE_ARRAYS]) {
    for (int i = 0; i < STATE_ARRAYS; i++) {
        if (arrays[i].count > 0 && !(q->inputs >> i & 1)) {
            call_blame(c, "%s", state_array_names[i]);
            call_fail(c, REASON_UNUSED_FIELD, "no quantity of the request depends on %s; leave it out",
                      state_array_names[i]);
            return false;
        }
    }
    return true;
}

/* Refuses a member of a QuantityRequest that the quantity does not use. Returns false. */
static bool refuse_member(call *c, size_t i, const char *member, const Dynamics__V1__QuantityRequest *requested) {
    call_blame(c, "quantities[%zu].%s", i, member);
    call_fail(c, REASON_UNUSED_FIELD, "%s has no use for %s; leave it out", name_of(requested), member);
    return false;
}

/* Checks that a QuantityRequest has the members that its quantity needs, and no others. */
static bool check_members(call *c, size_t i, const Dynamics__V1__QuantityRequest *requested) {
    const quantity_row *of = quantity_find(requested->quantity);
    if (of->of == OF_FRAMES && requested->n_frames == 0) {
        call_blame(c, "quantities[%zu].frames", i);
        call_fail(c, REASON_MISSING_VALUE, "%s is of frames; name at least one", name_of(requested));
        return false;
    }
    if (of->of != OF_FRAMES && requested->n_frames > 0) {
        return refuse_member(c, i, "frames", requested);
    }
    if (of->of != OF_SUBTREE && requested->subtree[0]) {
        return refuse_member(c, i, "subtree", requested);
    }
    if (of->of != OF_TASK && requested->n_task > 0) {
        return refuse_member(c, i, "task", requested);
    }
    if (!of->by->has_goal && requested->damping != 0) {
        return refuse_member(c, i, "damping", requested);
    }
    if (!of->by->is_impact && requested->restitution != 0) {
        return refuse_member(c, i, "restitution", requested);
    }
    if (!(requested->restitution >= 0 && requested->restitution <= 1)) {
        call_blame(c, "quantities[%zu].restitution", i);
        call_fail(c, REASON_INVALID_VALUE, "the restitution is %g; pass a number from 0 to 1", requested->restitution);
        return false;
    }
    bool has_frame = of->of == OF_FRAMES || of->of == OF_TASK;
    return has_frame || requested->reference_frame == 0 || refuse_member(c, i, "reference_frame", requested);
}

/* Checks that the formulation of the query, if it has one, computes quantity i. */
static bool check_formulation(batch *b, size_t i, const Dynamics__V1__QuantityRequest *requested) {
    refusal why = {0};
    if (b->query->formulation[0] == '\0') {
        return true;
    }
    if (!formulated_quantity_is_one(requested->quantity)) {
        call_blame(b->call, "quantities[%zu].quantity", i);
        call_fail(b->call, REASON_CONFLICTING_FIELDS,
                  "formulations do not compute %s; leave it out, or the formulation of the query", name_of(requested));
        return false;
    }
    if (!formulated_quantity_check(requested->quantity, b->query->formulation, &why)) {
        call_refuse(b->call, &why);
        return false;
    }
    return formulated_gear_losses_are_possible(b);
}

/* ---- the places of the quantities -------------------------------------------------------------------------------- */

/* Finds the joint at the root of a quantity's subtree; -1, for an empty name, is the whole robot. Returns false when
 * the call has ended. */
static bool find_subtree(batch *b, size_t i, const char *name, int *subtree) {
    refusal why;
    *subtree = -1;
    if (!name[0] || lookup_joint(b->entry, "", name, subtree, &why)) {
        return true;
    }
    call_blame(b->call, "quantities[%zu].subtree", i);
    call_refuse(b->call, &why);
    return false;
}

/* Adds the results of a quantity, one for each of its frames. Returns false when the call has ended. */
static bool add_frames(batch *b, evaluation *e, size_t i, const Dynamics__V1__QuantityRequest *requested,
                       quantity_place *at) {
    char quoted[TEXT_QUOTE_SIZE];
    for (size_t k = 0; k < requested->n_frames; k++) {
        call_blame(b->call, "quantities[%zu].frames[%zu]", i, k);
        if (!batch_find_frame(b, REASON_FRAME_NOT_FOUND, requested->frames[k], &at->frame)) {
            return false;
        }
        if (!evaluation_add(b, e, requested->quantity, at)) {
            call_fail(b->call, REASON_DUPLICATE, "%s of frame %s is asked for twice", name_of(requested),
                      text_quote(requested->frames[k], quoted));
            return false;
        }
    }
    return true;
}

/* Adds the results of quantity i of the request. Returns false when the call has ended. */
static bool add_quantity(batch *b, evaluation *e, question *q, size_t i) {
    const Dynamics__V1__QuantityRequest *requested = q->request->quantities[i];
    const quantity_row *of = quantity_find(requested->quantity);
    quantity_place at = {.subtree = -1, .restitution = requested->restitution};
    if (!check_members(b->call, i, requested) || !check_formulation(b, i, requested) ||
        !evaluation_check(b, requested->quantity) || !find_subtree(b, i, requested->subtree, &at.subtree)) {
        return false;
    }
    call_blame(b->call, "quantities[%zu].reference_frame", i);
    if (!of->expressed_in &&
        !geometry_read_reference_frame(b->call, "", requested->reference_frame, &at.reference_frame)) {
        return false;
    }
    if (of->of == OF_FRAMES) {
        return add_frames(b, e, i, requested, &at);
    }
    if (of->of == OF_TASK) {
        task_rows *task = &q->tasks[q->tasks_read++];
        if (!task_rows_read(b, i, requested, at.reference_frame, task) ||
            !(of->by->has_goal ? task_rows_read_goal(b, requested, task)
                               : task_rows_check_no_goal(b, requested, task))) {
            return false;
        }
        at.task = task;
    }
    if (!evaluation_add(b, e, requested->quantity, &at)) {
        call_blame(b->call, "quantities[%zu]", i);
        call_fail(b->call, REASON_DUPLICATE, "%s is asked for twice", name_of(requested));
        return false;
    }
    return true;
}

/* Sets the step of the quantities of contacts, if there are any. Returns false when the call has ended. */
static bool set_contact_step(batch *b, evaluation *e, const question *q) {
    const double step = q->request->contact_step;
    if (q->has_contact_step) {
        return evaluation_set_contact_step(b, e, step != 0 ? step : STANDARD_CONTACT_STEP);
    }
    if (step != 0) {
        call_blame(b->call, "contact_step");
        call_fail(b->call, REASON_UNUSED_FIELD, "no quantity of the request is of contacts; leave contact_step out");
    }
    return step == 0;
}

static bool add_quantities(batch *b, evaluation *e, question *q) {
    q->tasks = call_allocate(b->call, q->task_count, sizeof *q->tasks);
    bool is_added = q->tasks && evaluation_open(b, e, q->result_count);
    for (size_t i = 0; is_added && i < q->request->n_quantities; i++) {
        is_added = add_quantity(b, e, q, i);
    }
    return is_added && set_contact_step(b, e, q);
}

/* ---- the answer -------------------------------------------------------------------------------------------------- */

static void answer(batch *b, const evaluation *e, const question *q) {
    result_list list;
    if (!result_list_create(b, e->result_count, q->task_count, &list)) {
        return;
    }
    list.reply->passive_forces = passive_forces_write(b->call, &b->values.passive);
    list.reply->agreement = motion_agreement_write(b, e->agreement);
    const evaluation_result *next = e->results;
    for (size_t i = 0; i < q->request->n_quantities; i++) {
        const Dynamics__V1__QuantityRequest *requested = q->request->quantities[i];
        bool is_of_frames = next->of->of == OF_FRAMES;
        for (size_t k = 0; k < (is_of_frames ? requested->n_frames : 1); k++, next++) {
            if (!result_list_add(b, &list, next, i, is_of_frames ? requested->frames[k] : NULL)) {
                return;
            }
        }
    }
}

void method_evaluate(call *c) {
    const Dynamics__V1__EvaluateRequest *r = c->request->evaluate;
    const sent_array arrays[STATE_ARRAYS] = {
        [STATE_V] = {r->n_v, r->v},          [STATE_A] = {r->n_a, r->a},    [STATE_TAU] = {r->n_tau, r->tau},
        [STATE_DQ] = {r->n_dq, r->dq},       [STATE_DV] = {r->n_dv, r->dv}, [STATE_DA] = {r->n_da, r->da},
        [STATE_DTAU] = {r->n_dtau, r->dtau},
    };
    batch b;
    evaluation e;
    question q = {.request = r};
    if (batch_open(c, &b, r->query, find_parts(r), r->n_q, r->q) && check_quantities(c, &q) &&
        check_arrays(c, &q, arrays) && given_rows_read(&b) && add_quantities(&b, &e, &q) &&
        evaluation_run(&b, &e, arrays)) {
        answer(&b, &e, &q);
    }
    batch_close(&b);
}
