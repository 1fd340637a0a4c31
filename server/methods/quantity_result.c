/* SPDX-License-Identifier: BSD-2-Clause */
/* Results of Evaluate: the blocks of a quantity in the reply. */
#include "methods/quantity_result.h"

/* ---- sizes ------------------------------------------------------------------------------------------------------- */

static size_t axis_size(const batch *b, quantity_axis axis) {
    switch (axis) {
    case AXIS_JOINTS:
        return b->nv;
    case AXIS_BODIES:
        return (size_t)dyn_model_joint_count(b->model);
    case AXIS_PARAMETERS:
        return 10;
    case AXIS_XYZ:
        return 3;
    case AXIS_XYZW:
        return 4;
    case AXIS_TASK:
        return b->task_rows;
    case AXIS_SEMIAXES:
        return 3;
    case AXIS_JOINT_SEMIAXES:
        return b->nv;
    case AXIS_MANIPULABILITY:
        return 2;
    default:
        return 1;
    }
}

static size_t block_size(const batch *b, const quantity_block *block) {
    return axis_size(b, block->axes[0]) * axis_size(b, block->axes[1]) * axis_size(b, block->axes[2]);
}

size_t quantity_width(const batch *b, const quantity_form *form) {
    size_t width = 0;
    for (size_t k = 0; k < QUANTITY_BLOCKS && form->blocks[k].name; k++) {
        width += block_size(b, &form->blocks[k]);
    }
    return width;
}

/* ---- the form ---------------------------------------------------------------------------------------------------- */

/* A text that is only read from now on. */
static char *constant(const char *text) {
    return (char *)(uintptr_t)text;
}

static Dynamics__V1__Block *create_block(batch *b, const quantity_block *form) {
    Dynamics__V1__Block *block = call_allocate(b->call, 1, sizeof *block);
    uint32_t *shape = call_allocate(b->call, QUANTITY_AXES, sizeof *shape);
    char **axes = call_allocate(b->call, QUANTITY_AXES, sizeof *axes);
    double *values = batch_output(b, block_size(b, form));
    if (call_has_ended(b->call)) {
        return NULL;
    }
    dynamics__v1__block__init(block);
    block->name = constant(form->name);
    block->unit = constant(form->unit);
    while (block->n_shape < QUANTITY_AXES && form->axes[block->n_shape] != AXIS_NONE) {
        shape[block->n_shape] = (uint32_t)axis_size(b, form->axes[block->n_shape]);
        axes[block->n_shape] = constant(quantity_axis_names[form->axes[block->n_shape]]);
        block->n_axes = ++block->n_shape;
    }
    block->shape = shape;
    block->axes = axes;
    block->n_values = b->n * block_size(b, form);
    block->values = values;
    return block;
}

/* States the frame of a result; `frame` is NULL for a quantity that is of none. */
static void state_frame(const quantity_form *form, char *frame, Dynamics__V1__ReferenceFrame reference_frame,
                        Dynamics__V1__QuantityResult *result) {
    static const char *const reference_frames[] = {
        [DYNAMICS__V1__REFERENCE_FRAME__REFERENCE_FRAME_LOCAL] = "axes and origin of the frame",
        [DYNAMICS__V1__REFERENCE_FRAME__REFERENCE_FRAME_WORLD] = "axes and origin of the world",
        [DYNAMICS__V1__REFERENCE_FRAME__REFERENCE_FRAME_LOCAL_WORLD_ALIGNED] = "axes of the world, origin of the frame",
    };
    result->expressed_in = constant(form->expressed_in ? form->expressed_in : reference_frames[reference_frame]);
    if (form->of == OF_TASK) {
        result->reference_frame = reference_frame;
    }
    if (frame) {
        result->frame = frame;
        result->reference_frame =
            form->expressed_in ? DYNAMICS__V1__REFERENCE_FRAME__REFERENCE_FRAME_WORLD : reference_frame;
    }
}

Dynamics__V1__QuantityResult *quantity_result_create(batch *b, Dynamics__V1__Quantity quantity, char *frame,
                                                     Dynamics__V1__ReferenceFrame reference_frame) {
    const quantity_form *form = quantity_find(quantity);
    Dynamics__V1__QuantityResult *result = call_allocate(b->call, 1, sizeof *result);
    Dynamics__V1__Block **parts = call_allocate(b->call, QUANTITY_BLOCKS, sizeof *parts);
    if (!result || !parts) {
        return NULL;
    }
    dynamics__v1__quantity_result__init(result);
    result->quantity = quantity;
    result->blocks = parts;
    state_frame(form, frame, reference_frame, result);
    while (!call_has_ended(b->call) && result->n_blocks < QUANTITY_BLOCKS && form->blocks[result->n_blocks].name) {
        parts[result->n_blocks] = create_block(b, &form->blocks[result->n_blocks]);
        result->n_blocks++;
    }
    return result;
}

/* ---- the values -------------------------------------------------------------------------------------------------- */

/* Column of the library's result that is entry i of an axis. */
static size_t model_index(const batch *b, quantity_axis axis, size_t i) {
    return axis == AXIS_JOINTS && !b->order.is_identity ? (size_t)b->order.v[i] : i;
}

/* Copies one sample's block into the caller's order. */
static void order_block(const batch *b, const quantity_block *form, const double *from, double *to) {
    size_t sizes[QUANTITY_AXES];
    for (size_t k = 0; k < QUANTITY_AXES; k++) {
        sizes[k] = axis_size(b, form->axes[k]);
    }
    size_t stride = form->pitch ? form->pitch : sizes[1] * sizes[2];
    from += form->first * (form->pitch ? 1 : stride) + (form->is_second ? sizes[0] * stride : 0);
    for (size_t i = 0; i < sizes[0]; i++) {
        for (size_t j = 0; j < sizes[1]; j++) {
            const double *row =
                from + model_index(b, form->axes[0], i) * stride + model_index(b, form->axes[1], j) * sizes[2];
            for (size_t k = 0; k < sizes[2]; k++) {
                *to++ = row[model_index(b, form->axes[2], k)];
            }
        }
    }
}

void quantity_result_fill(const batch *b, Dynamics__V1__QuantityResult *result, size_t first, size_t count,
                          const double *values) {
    const quantity_form *form = quantity_find(result->quantity);
    size_t width = quantity_width(b, form);
    for (size_t k = 0; k < result->n_blocks; k++) {
        size_t size = block_size(b, &form->blocks[k]);
        for (size_t i = 0; i < count; i++) {
            order_block(b, &form->blocks[k], values + i * width, result->blocks[k]->values + (first + i) * size);
        }
    }
}
