/* SPDX-License-Identifier: BSD-2-Clause */
/* Evaluate: any set of quantities for the same states. */
#include "methods/coordinates.h"
#include "methods/evaluation.h"
#include "methods/methods.h"
#include "methods/quantity_result.h"
#include "methods/text.h"

/* A request on its way. */
typedef struct question {
    const Dynamics__V1__EvaluateRequest *request;
    dyn_reference_frame reference_frame;
    int subtree; /* joint, or -1 */
    int *frames;
    task_rows rows; /* of the task, where a quantity is of one */
    bool has_task, has_bodies;
    size_t result_count;
} question;

/* ---- the question ------------------------------------------------------------------------------------------------ */

static const char *quantity_name(Dynamics__V1__Quantity quantity) {
    return protobuf_c_enum_descriptor_get_value(&dynamics__v1__quantity__descriptor, (int)quantity)->name;
}

static bool runs_over_bodies(const quantity_row *of) {
    bool found = false;
    for (size_t k = 0; k < QUANTITY_BLOCKS; k++) {
        for (size_t i = 0; i < QUANTITY_AXES; i++) {
            found = found || of->blocks[k].axes[i] == AXIS_BODIES;
        }
    }
    return found;
}

/* Checks that each quantity exists, and counts the results. */
static bool check_quantities(batch *b, question *asked) {
    const Dynamics__V1__EvaluateRequest *r = asked->request;
    if (r->n_quantities == 0) {
        call_blame(b->call, "quantities");
        call_fail(b->call, REASON_MISSING_VALUE, "ask for at least one quantity");
        return false;
    }
    for (size_t i = 0; i < r->n_quantities; i++) {
        const quantity_row *of = quantity_find(r->quantities[i]);
        call_blame(b->call, "quantities[%zu]", i);
        if (!of) {
            call_fail(b->call, REASON_UNKNOWN_VALUE, "%d is no quantity that this daemon knows", (int)r->quantities[i]);
            return false;
        }
        bool is_of_frames = of->of == OF_FRAMES || of->of == OF_TASK;
        if (is_of_frames && r->n_frames == 0) {
            call_blame(b->call, "frames");
            call_fail(b->call, REASON_MISSING_VALUE, "name at least one frame: %s is asked for",
                      quantity_name(r->quantities[i]));
            return false;
        }
        asked->has_task = asked->has_task || of->of == OF_TASK;
        asked->has_bodies = asked->has_bodies || runs_over_bodies(of);
        asked->result_count += of->of == OF_FRAMES ? r->n_frames : 1;
    }
    return true;
}

/* Finds the frames, each of which may be named once. */
static bool find_frames(batch *b, question *asked) {
    const Dynamics__V1__EvaluateRequest *r = asked->request;
    char quoted[TEXT_QUOTE_SIZE];
    /* The world's frame is -1. */
    bool *is_named = call_allocate(b->call, (size_t)dyn_model_link_count(b->model) + 1, sizeof *is_named);
    asked->frames = is_named ? call_allocate(b->call, r->n_frames, sizeof *asked->frames) : NULL;
    for (size_t i = 0; asked->frames && i < r->n_frames; i++) {
        call_blame(b->call, "frames[%zu]", i);
        if (!batch_find_frame(b, REASON_FRAME_NOT_FOUND, r->frames[i], &asked->frames[i])) {
            return false;
        }
        if (is_named[asked->frames[i] + 1]) {
            call_fail(b->call, REASON_DUPLICATE, "frame %s is named twice", text_quote(r->frames[i], quoted));
            return false;
        }
        is_named[asked->frames[i] + 1] = true;
    }
    return asked->frames != NULL;
}

/* Finds the joint whose load the centre of mass is of. */
static bool find_subtree(batch *b, question *asked) {
    char quoted[TEXT_QUOTE_SIZE];
    const char *name = asked->request->subtree;
    asked->subtree = name[0] ? dyn_model_find_joint(b->model, name) : -1;
    if (name[0] && asked->subtree < 0) {
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

/* Returns whether a quantity is asked for that is expressed in a frame of choice. */
static bool needs_reference_frame(const Dynamics__V1__EvaluateRequest *r) {
    for (size_t i = 0; i < r->n_quantities; i++) {
        const quantity_row *row = quantity_find(r->quantities[i]);
        if (row->of == OF_TASK || (row->of == OF_FRAMES && !row->expressed_in)) {
            return true;
        }
    }
    return false;
}

/* Checks all arguments but the numbers. */
static bool check_request(batch *b, question *asked) {
    const Dynamics__V1__EvaluateRequest *r = asked->request;
    if (!check_quantities(b, asked) || !find_frames(b, asked) || !find_subtree(b, asked)) {
        return false;
    }
    bool may_lack = !needs_reference_frame(r) && r->reference_frame == 0;
    call_blame(b->call, "reference_frame");
    return (may_lack || batch_reference_frame(b, r->reference_frame, &asked->reference_frame)) &&
           (!asked->has_task || task_rows_take(b, r->n_frames, asked->frames, asked->reference_frame, r->n_task_axes,
                                               r->task_axes, &asked->rows));
}

/* Adds the results of one quantity. */
static bool add_quantity(batch *b, evaluation *e, const question *asked, size_t i) {
    const Dynamics__V1__EvaluateRequest *r = asked->request;
    quantity_subject of = quantity_find(r->quantities[i])->of;
    quantity_place at = {.subtree = of == OF_SUBTREE ? asked->subtree : -1};
    if (of == OF_TASK) {
        at.task = &asked->rows;
    }
    for (size_t k = 0; k < (of == OF_FRAMES ? r->n_frames : 1); k++) {
        if (of == OF_FRAMES) {
            at.frame = asked->frames[k];
            at.reference_frame = asked->reference_frame;
        }
        if (!evaluation_add(b, e, r->quantities[i], &at)) {
            call_blame(b->call, "quantities[%zu]", i);
            call_fail(b->call, REASON_DUPLICATE, "%s is asked for twice", quantity_name(r->quantities[i]));
            return false;
        }
    }
    return true;
}

static bool add_quantities(batch *b, evaluation *e, const question *asked) {
    bool is_added = evaluation_open(b, e, asked->result_count);
    for (size_t i = 0; is_added && i < asked->request->n_quantities; i++) {
        is_added = add_quantity(b, e, asked, i);
    }
    return is_added;
}

/* ---- the answer -------------------------------------------------------------------------------------------------- */

/* Names the link that each moving joint carries. */
static void name_bodies(batch *b, Dynamics__V1__EvaluateReply *reply) {
    size_t count = (size_t)dyn_model_joint_count(b->model);
    reply->bodies = call_allocate(b->call, count, sizeof *reply->bodies);
    for (size_t i = 0; reply->bodies && i < count; i++) {
        int link = dyn_model_joint(b->model, (int)i)->child_link;
        reply->bodies[i] = (char *)(uintptr_t)dyn_model_link(b->model, link)->name;
    }
    reply->n_bodies = count;
}

/* Writes the messages of all results. */
static void fill_results(batch *b, const evaluation *e, const question *asked, Dynamics__V1__EvaluateReply *reply) {
    const Dynamics__V1__EvaluateRequest *r = asked->request;
    reply->results = call_allocate(b->call, e->result_count, sizeof *reply->results);
    size_t frame = 0;
    for (size_t i = 0; i < e->result_count && !call_has_ended(b->call); i++) {
        bool is_of_frames = e->results[i].of->of == OF_FRAMES;
        reply->results[reply->n_results++] =
            quantity_result_create(b, &e->results[i], is_of_frames ? r->frames[frame] : NULL, r->reference_frame);
        frame = is_of_frames && frame + 1 < r->n_frames ? frame + 1 : 0;
    }
}

static void answer(batch *b, const evaluation *e, const question *asked) {
    call *c = b->call;
    Dynamics__V1__EvaluateReply *reply = call_allocate(c, 1, sizeof *reply);
    if (!reply) {
        return;
    }
    dynamics__v1__evaluate_reply__init(reply);
    reply->samples = b->n;
    reply->nv = (uint32_t)b->nv;
    char **units;
    if (coordinates_name(b, &reply->joints, &units)) {
        reply->n_joints = b->nv;
    }
    if (asked->has_bodies) {
        name_bodies(b, reply);
    }
    if (asked->has_task) {
        reply->task = task_rows_name(b, &asked->rows, asked->request->frames);
        reply->n_task = reply->task ? (size_t)dyn_task_row_count(&asked->rows.task) : 0;
    }
    fill_results(b, e, asked, reply);
    if (!call_has_ended(c)) {
        c->reply.result_case = DYNAMICS__V1__REPLY__RESULT_EVALUATE;
        c->reply.evaluate = reply;
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
    question asked = {.request = r};
    if (batch_open(c, &b, r->query, QUERY_ALL | QUERY_ON_ERROR, r->n_q, r->q) && check_request(&b, &asked) &&
        add_quantities(&b, &e, &asked) && evaluation_run(&b, &e, arrays)) {
        answer(&b, &e, &asked);
    }
    batch_close(&b);
}
