/* SPDX-License-Identifier: BSD-2-Clause */
/* Results of Evaluate: the blocks of a quantity in the reply. */
#include "methods/quantity_result.h"

#include "methods/quantity_layout.h"

/* A text that is only read from now on. */
static char *constant(const char *text) {
    return (char *)(uintptr_t)text;
}

static Dynamics__V1__Block *create_block(batch *b, const evaluation_result *from, size_t k) {
    const quantity_block *form = &from->of->blocks[k];
    Dynamics__V1__Block *block = call_allocate(b->call, 1, sizeof *block);
    uint32_t *shape = call_allocate(b->call, QUANTITY_AXES, sizeof *shape);
    char **axes = call_allocate(b->call, QUANTITY_AXES, sizeof *axes);
    if (call_has_ended(b->call)) {
        return NULL;
    }
    dynamics__v1__block__init(block);
    block->name = constant(form->name);
    block->unit = constant(form->unit);
    while (block->n_shape < QUANTITY_AXES && form->axes[block->n_shape] != AXIS_NONE) {
        shape[block->n_shape] = (uint32_t)quantity_axis_size(b, &from->at, form->axes[block->n_shape]);
        axes[block->n_shape] = constant(quantity_axis_names[form->axes[block->n_shape]]);
        block->n_axes = ++block->n_shape;
    }
    block->shape = shape;
    block->axes = axes;
    block->n_values = b->n * quantity_block_size(b, &from->at, form);
    block->values = from->values[k];
    return block;
}

/* States the frame of a result; `frame` is NULL for a quantity that is of none. */
static void state_frame(const quantity_row *of, char *frame, Dynamics__V1__ReferenceFrame reference_frame,
                        Dynamics__V1__QuantityResult *result) {
    static const char *const reference_frames[] = {
        [DYNAMICS__V1__REFERENCE_FRAME__REFERENCE_FRAME_LOCAL] = "axes and origin of the frame",
        [DYNAMICS__V1__REFERENCE_FRAME__REFERENCE_FRAME_WORLD] = "axes and origin of the world",
        [DYNAMICS__V1__REFERENCE_FRAME__REFERENCE_FRAME_LOCAL_WORLD_ALIGNED] = "axes of the world, origin of the frame",
    };
    result->expressed_in = constant(of->expressed_in ? of->expressed_in : reference_frames[reference_frame]);
    if (of->of == OF_TASK) {
        result->reference_frame = reference_frame;
    }
    if (frame) {
        result->frame = frame;
        result->reference_frame =
            of->expressed_in ? DYNAMICS__V1__REFERENCE_FRAME__REFERENCE_FRAME_WORLD : reference_frame;
    }
}

Dynamics__V1__QuantityResult *quantity_result_create(batch *b, const evaluation_result *from, char *frame,
                                                     Dynamics__V1__ReferenceFrame reference_frame) {
    Dynamics__V1__QuantityResult *result = call_allocate(b->call, 1, sizeof *result);
    Dynamics__V1__Block **parts = call_allocate(b->call, QUANTITY_BLOCKS, sizeof *parts);
    if (!result || !parts) {
        return NULL;
    }
    dynamics__v1__quantity_result__init(result);
    result->quantity = from->number;
    result->blocks = parts;
    state_frame(from->of, frame, reference_frame, result);
    for (size_t k = 0; !call_has_ended(b->call) && k < QUANTITY_BLOCKS && from->of->blocks[k].name; k++) {
        parts[k] = create_block(b, from, k);
        result->n_blocks++;
    }
    return result;
}
