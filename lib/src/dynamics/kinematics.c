/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Entry points for the pose and the Jacobian of a frame.
 */
#include <dynamics/kinematics.h>

#include <math.h>
#include <string.h>

#include "../model/normal_form.h"
#include "arguments.h"
#include "compiled.h"
#include "results.h"
#include "workspace.h"

static dyn_status check_arguments(const dyn_model *model, const dyn_workspace *workspace, size_t n, const double *q,
                                  int frame, dyn_error *error) {
    dyn_status status = dyn_check_workspace(model, workspace, error);
    if (status == DYN_OK) {
        status = dyn_check_frame(model, frame, error);
    }
    return status == DYN_OK ? dyn_check_q(workspace, n, q, error) : status;
}

/* Stores the identity pose n times. Either output may be NULL. */
static void world_pose(size_t n, double *position, double *rotation) {
    static const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    for (size_t s = 0; s < n; s++) {
        if (position) {
            memset(position + 3 * s, 0, 3 * sizeof *position);
        }
        if (rotation) {
            memcpy(rotation + 9 * s, identity, sizeof identity);
        }
    }
}

/* Stores the poses of one block in the caller's rows, either of which may be NULL. A packed pose is a position of 3
 * numbers and a rotation of 9. */
static void store_pose(sample_block block, const void *packed, double *position, double *rotation) {
    for (size_t l = 0; l < block.count; l++) {
        for (size_t i = 0; position && i < 3; i++) {
            position[(block.first + l) * 3 + i] = dyn_packed_number(packed, i, block, l);
        }
        for (size_t i = 0; rotation && i < 9; i++) {
            rotation[(block.first + l) * 9 + i] = dyn_packed_number(packed, 3 + i, block, l);
        }
    }
}

/* Computes the pose of a frame for one block into workspace->pose. */
static void compute_pose(const dyn_model *model, const dyn_workspace *w, sample_block block, const void *q, int frame) {
    void *position = w->pose, *rotation = dyn_packed(w->pose, 3, block);
    compiled_packed *compiled = dyn_compiled_of_frame(model, w, frame, COMPILED_POSE, block.kernels);
    if (compiled) {
        compiled((const void *[]){q}, block.kernels->sines, (void *[]){position, rotation});
        block.kernels->place_frame(model, frame, position, rotation);
    } else {
        block.kernels->frame_pose(model, w->memory, q, frame, position, rotation);
    }
}

/* Computes the Jacobian of a frame for one block. */
static void compute_jacobian(const dyn_model *model, const dyn_workspace *w, sample_block block, const void *q,
                             int frame, dyn_reference_frame reference_frame, void *J) {
    void *position = w->pose, *rotation = dyn_packed(w->pose, 3, block);
    compiled_packed *compiled = dyn_compiled_of_frame(model, w, frame, COMPILED_JACOBIAN, block.kernels);
    if (compiled) {
        compiled((const void *[]){q}, block.kernels->sines, (void *[]){position, rotation, J});
        block.kernels->place_frame(model, frame, position, rotation);
        block.kernels->refer_jacobian(model, position, rotation, reference_frame, J);
    } else {
        block.kernels->frame_jacobian(model, w->memory, q, frame, reference_frame, J);
    }
}

dyn_status dyn_frame_pose(const dyn_model *model, dyn_workspace *workspace, size_t n, const double *q, int frame,
                          double *position, double *rotation, dyn_error *error) {
    const dyn_workspace *w = workspace;
    dyn_status status = check_arguments(model, w, n, q, frame, error);
    if (status != DYN_OK) {
        return status;
    }
    if (frame == DYN_WORLD_FRAME) {
        world_pose(n, position, rotation);
        return DYN_OK;
    }
    for (sample_block block = dyn_block_first(w, n); block.count > 0; block = dyn_block_next(w, n, block)) {
        compute_pose(model, w, block, dyn_block_pack(w, 0, q, (size_t)model->nq, block), frame);
        store_pose(block, w->pose, position, rotation);
    }
    if (position) {
        status = dyn_check_result(workspace, "position", n, 3, position, error);
    }
    if (rotation && status == DYN_OK) {
        status = dyn_check_result(workspace, "rotation", n, 9, rotation, error);
    }
    return status;
}

dyn_status dyn_frame_jacobian(const dyn_model *model, dyn_workspace *workspace, size_t n, const double *q, int frame,
                              dyn_reference_frame reference_frame, double *J, dyn_error *error) {
    const dyn_workspace *w = workspace;
    dyn_status status = check_arguments(model, w, n, q, frame, error);
    if (status != DYN_OK) {
        return status;
    }
    size_t entries = 6 * (size_t)model->nv;
    if (frame == DYN_WORLD_FRAME) {
        memset(J, 0, n * entries * sizeof *J);
        return DYN_OK;
    }
    for (sample_block block = dyn_block_first(w, n); status == DYN_OK && block.count > 0;
         block = dyn_block_next(w, n, block)) {
        void *out = dyn_block_output(w, J, entries, block);
        const void *in = dyn_block_pack(w, 0, q, (size_t)model->nq, block);
        compute_jacobian(model, w, block, in, frame, reference_frame, out);
        status = dyn_result_store(w, out, block, (result){"J", J, entries}, error);
    }
    return status;
}
