/* SPDX-License-Identifier: BSD-2-Clause */
/* Builds the reply of Evaluate: the results, their blocks, and the axes that the blocks share. */
#include "methods/quantity_result.h"

#include "methods/given_rows.h"
#include "methods/methods.h"
#include "methods/quantity_axes.h"
#include "methods/quantity_layout.h"
#include "methods/text.h"

#define QUANTITY_INPUT(name) DYNAMICS__V1__QUANTITY_INPUT__QUANTITY_INPUT_##name

/* Inputs of a quantity: the flag of quantity_input, and the number in the protocol. */
static const struct {
    unsigned flag;
    Dynamics__V1__QuantityInput wire;
} inputs[] = {
    {USES_V, QUANTITY_INPUT(V)},
    {USES_A, QUANTITY_INPUT(A)},
    {USES_TAU, QUANTITY_INPUT(TAU)},
    {USES_DQ, QUANTITY_INPUT(DQ)},
    {USES_DV, QUANTITY_INPUT(DV)},
    {USES_DA, QUANTITY_INPUT(DA)},
    {USES_DTAU, QUANTITY_INPUT(DTAU)},
    {USES_GRAVITY, QUANTITY_INPUT(GRAVITY)},
    {USES_FORCES, QUANTITY_INPUT(EXTERNAL_FORCES)},
    {USES_PAYLOADS, QUANTITY_INPUT(PAYLOADS)},
    {USES_PASSIVE_FORCES, QUANTITY_INPUT(PASSIVE_FORCES)},
    {USES_BASE, QUANTITY_INPUT(BASE_MOTION)},
};

/* Number of inputs, and a bound of the number of axes other than those of tasks: one for each kind. */
enum { INPUTS = sizeof inputs / sizeof inputs[0], FIXED_AXES = 16 };

bool result_list_create(batch *b, size_t most_results, size_t most_tasks, result_list *list) {
    list->reply = create_evaluate_reply(b->call);
    list->tasks = call_allocate(b->call, FIXED_AXES + most_tasks, sizeof *list->tasks);
    Dynamics__V1__Axis **axes = call_allocate(b->call, FIXED_AXES + most_tasks, sizeof *axes);
    Dynamics__V1__QuantityResult **results = call_allocate(b->call, most_results, sizeof *results);
    if (call_has_ended(b->call)) {
        return false;
    }
    list->reply->samples = b->n;
    list->reply->nv = (uint32_t)b->nv;
    list->reply->axes = axes;
    list->reply->results = results;
    return true;
}

/* Returns the index of an axis in the reply. Adds the axis if it is missing. Returns 0, and the call has ended, when
 * out of memory. */
static size_t refer_to_axis(batch *b, const result_list *list, const quantity_place *at, quantity_axis kind) {
    Dynamics__V1__EvaluateReply *reply = list->reply;
    bool is_of_task = kind == DYNAMICS__V1__AXIS_KIND__AXIS_KIND_TASK;
    for (size_t i = 0; i < reply->n_axes; i++) {
        if (reply->axes[i]->kind == kind && (!is_of_task || task_rows_are_equal(list->tasks[i], at->task))) {
            return i;
        }
    }
    Dynamics__V1__Axis *axis = quantity_axis_create(b, at, kind);
    if (!axis) {
        return 0;
    }
    list->tasks[reply->n_axes] = is_of_task ? at->task : NULL;
    reply->axes[reply->n_axes] = axis;
    return reply->n_axes++;
}

static Dynamics__V1__Block *create_block(batch *b, const result_list *list, const evaluation_result *from, size_t k) {
    const quantity_block *form = &from->of->blocks[k];
    Dynamics__V1__Block *block = call_allocate(b->call, 1, sizeof *block);
    uint32_t *shape = call_allocate(b->call, QUANTITY_AXES, sizeof *shape);
    uint32_t *axes = call_allocate(b->call, QUANTITY_AXES, sizeof *axes);
    if (call_has_ended(b->call)) {
        return NULL;
    }
    dynamics__v1__block__init(block);
    block->name = text_constant(form->name);
    block->units = (char **)(uintptr_t)form->units;
    while (form->units[block->n_units]) {
        block->n_units++;
    }
    for (size_t i = 0; i < QUANTITY_AXES && form->axes[i] != AXIS_NONE; i++) {
        shape[i] = (uint32_t)quantity_axis_size(b, &from->at, form->axes[i]);
        axes[i] = (uint32_t)refer_to_axis(b, list, &from->at, form->axes[i]);
        block->n_axes = block->n_shape = i + 1;
    }
    block->shape = shape;
    block->axes = axes;
    block->n_values = b->n * quantity_block_size(b, &from->at, form);
    block->values = from->values[k];
    return block;
}

/* Writes the frame in which a result is expressed, and the frame that it is about unless `frame` is NULL. */
static void state_frame(const evaluation_result *from, char *frame, Dynamics__V1__QuantityResult *result) {
    static const struct {
        Dynamics__V1__ReferenceFrame wire;
        const char *text;
    } frames[] = {
        [DYN_REFERENCE_FRAME_LOCAL] = {DYNAMICS__V1__REFERENCE_FRAME__REFERENCE_FRAME_LOCAL,
                                       "axes and origin of the frame"},
        [DYN_REFERENCE_FRAME_WORLD] = {DYNAMICS__V1__REFERENCE_FRAME__REFERENCE_FRAME_WORLD,
                                       "axes and origin of the world"},
        [DYN_REFERENCE_FRAME_LOCAL_WORLD_ALIGNED] = {DYNAMICS__V1__REFERENCE_FRAME__REFERENCE_FRAME_LOCAL_WORLD_ALIGNED,
                                                     "axes of the world, origin of the frame"},
    };
    dyn_reference_frame reference = from->at.reference_frame;
    result->expressed_in = text_constant(from->of->expressed_in ? from->of->expressed_in : frames[reference].text);
    if (!from->of->expressed_in) {
        result->reference_frame = frames[reference].wire;
    }
    if (frame) {
        result->frame = frame;
    }
}

/* Writes the inputs that the quantity of a result depends on. Returns false, and the call has ended, when out of
 * memory. */
static bool state_inputs(batch *b, const evaluation_result *from, Dynamics__V1__QuantityResult *result) {
    result->inputs = call_allocate(b->call, INPUTS, sizeof *result->inputs);
    for (size_t i = 0; result->inputs && i < INPUTS; i++) {
        if (from->of->inputs & inputs[i].flag) {
            result->inputs[result->n_inputs++] = inputs[i].wire;
        }
    }
    return result->inputs != NULL;
}

bool result_list_add(batch *b, const result_list *list, const evaluation_result *from, size_t request, char *frame) {
    Dynamics__V1__QuantityResult *result = call_allocate(b->call, 1, sizeof *result);
    Dynamics__V1__Block **parts = call_allocate(b->call, QUANTITY_BLOCKS, sizeof *parts);
    if (!result || !parts) {
        return false;
    }
    dynamics__v1__quantity_result__init(result);
    result->quantity = from->number;
    result->request = (uint32_t)request;
    result->blocks = parts;
    result->of_tree = from->of->by->is_of_tree && given_rows_total(b) > 0;
    state_frame(from, frame, result);
    if (!state_inputs(b, from, result)) {
        return false;
    }
    for (size_t k = 0; !call_has_ended(b->call) && k < QUANTITY_BLOCKS && from->of->blocks[k].name; k++) {
        parts[k] = create_block(b, list, from, k);
        result->n_blocks++;
    }
    list->reply->results[list->reply->n_results++] = result;
    return !call_has_ended(b->call);
}
