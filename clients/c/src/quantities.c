/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Encodes the quantities of an evaluation.
 */
#include "quantities.h"

#include "error.h"

/* Sets the desired acceleration of a frame of a task, which has one row, or one for each sample. */
static void encode_acceleration(const dyn_client_task_frame *from, sample_range range, Dynamics__V1__TaskFrame *to) {
    size_t axes = from->axis_count > 0 ? from->axis_count : 6;
    bool has_rows = range.all > 1 && from->acceleration_count == range.all * axes;
    to->n_acceleration = has_rows ? range.count * axes : from->acceleration_count;
    to->acceleration = (double *)(uintptr_t)from->acceleration + (has_rows ? range.first * axes : 0);
}

/* Encodes the task of a quantity. Returns INVALID_ARGUMENT if a frame of the task, or a list of its axes, is NULL. */
static dyn_client_status encode_task(const dyn_client_quantity_request *from, sample_range range, pool *memory,
                                     Dynamics__V1__QuantityRequest *body, dyn_client_error *error) {
    body->task = pool_allocate(memory, from->task_frame_count, sizeof *body->task);
    for (size_t i = 0; i < from->task_frame_count && body->task; i++) {
        const dyn_client_task_frame *named = &from->task_frames[i];
        Dynamics__V1__TaskFrame *frame = pool_allocate(memory, 1, sizeof *frame);
        if (!named->frame || (named->axis_count > 0 && !named->axes)) {
            return fail(error, DYN_CLIENT_INVALID_ARGUMENT, "task_frames", "a frame of a task is NULL");
        }
        if (!frame) {
            return fail_memory(error);
        }
        dynamics__v1__task_frame__init(frame);
        frame->frame = (char *)named->frame;
        frame->n_axes = named->axis_count;
        frame->axes = pool_allocate(memory, named->axis_count, sizeof *frame->axes);
        for (size_t k = 0; k < named->axis_count && frame->axes; k++) {
            frame->axes[k] = (Dynamics__V1__TaskAxis)named->axes[k];
        }
        if (named->acceleration_count > 0 && !named->acceleration) {
            return fail(error, DYN_CLIENT_INVALID_ARGUMENT, "task_frames", "the acceleration of a frame is NULL");
        }
        if (named->acceleration) {
            encode_acceleration(named, range, frame);
        }
        frame->priority = to_uint32(named->priority);
        body->task[body->n_task++] = frame;
    }
    return memory->is_exhausted ? fail_memory(error) : DYN_CLIENT_OK;
}

/* Encodes one quantity. Returns INVALID_ARGUMENT if one of its lists or names is NULL. */
static dyn_client_status encode_quantity(const dyn_client_quantity_request *from, sample_range range, pool *memory,
                                         Dynamics__V1__QuantityRequest *body, dyn_client_error *error) {
    dynamics__v1__quantity_request__init(body);
    if ((from->frame_count > 0 && !from->frames) || (from->task_frame_count > 0 && !from->task_frames)) {
        return fail(error, DYN_CLIENT_INVALID_ARGUMENT, "frames", "frames is NULL");
    }
    for (size_t i = 0; i < from->frame_count; i++) {
        if (!from->frames[i]) {
            return fail(error, DYN_CLIENT_INVALID_ARGUMENT, "frames", "frames[%zu] is NULL", i);
        }
    }
    body->quantity = (Dynamics__V1__Quantity)from->quantity;
    body->damping = from->damping;
    body->restitution = from->restitution;
    body->n_frames = from->frame_count;
    body->frames = (char **)from->frames;
    body->reference_frame = (Dynamics__V1__ReferenceFrame)from->reference_frame;
    if (from->subtree) {
        body->subtree = (char *)from->subtree;
    }
    return encode_task(from, range, memory, body, error);
}

dyn_client_status quantities_encode(const dyn_client_evaluate_request *request, sample_range range, pool *memory,
                                    Dynamics__V1__EvaluateRequest *body, dyn_client_error *error) {
    if (request->quantity_count == 0 || !request->quantities) {
        return fail(error, DYN_CLIENT_INVALID_ARGUMENT, "quantities", "no quantities: ask for one or more");
    }
    body->quantities = pool_allocate(memory, request->quantity_count, sizeof *body->quantities);
    Dynamics__V1__QuantityRequest *all = pool_allocate(memory, request->quantity_count, sizeof *all);
    if (!body->quantities || !all) {
        return fail_memory(error);
    }
    dyn_client_status status = DYN_CLIENT_OK;
    for (size_t i = 0; i < request->quantity_count && status == DYN_CLIENT_OK; i++) {
        status = encode_quantity(&request->quantities[i], range, memory, &all[i], error);
        body->quantities[body->n_quantities++] = &all[i];
    }
    return status;
}
