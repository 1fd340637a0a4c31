/* SPDX-License-Identifier: BSD-2-Clause */
#include <dynamics/frame_motion.h>

#include <string.h>

#include "../model/normal_form.h"
#include "arguments.h"
#include "compiled.h"
#include "results.h"
#include "workspace.h"

/* Stores n x width zeros, the motion of the world. Does nothing where `rows` is NULL. */
static void store_rest(size_t n, size_t width, double *rows) {
    if (rows) {
        memset(rows, 0, n * width * sizeof *rows);
    }
}

/* Computes twist, rate and rate of the Jacobian of one block into the first 12 + 6 nv numbers of the output. */
static void compute_motion(const dyn_model *model, const dyn_workspace *w, sample_block block, const packed_inputs *in,
                           int frame, dyn_reference_frame reference_frame) {
    size_t entries = 6 * (size_t)model->nv;
    void *V = dyn_block_part(w, 0, block), *dV = dyn_block_part(w, 6, block), *dJ = dyn_block_part(w, 12, block);
    void *J = dyn_block_part(w, 12 + entries, block), *position = w->pose, *rotation = dyn_packed(w->pose, 3, block);
    compiled_packed *compiled = dyn_compiled_of_frame(model, w, frame, COMPILED_MOTION, block.kernels);
    if (compiled) {
        const void *inputs[] = {in->q, in->v, in->third};
        compiled(inputs, block.kernels->sines, (void *[]){position, rotation, J, V, dV, dJ});
        block.kernels->place_frame(model, frame, position, rotation);
        block.kernels->refer_motion(model, position, rotation, reference_frame, J, V, dV, dJ);
    } else {
        const frame_rates rates = {V, dV, dJ};
        block.kernels->frame_motion(model, w->memory, in->q, in->v, in->third, frame, reference_frame, &rates);
    }
}

dyn_status dyn_frame_motion(const dyn_model *model, dyn_workspace *workspace, size_t n, const double *q,
                            const double *v, const double *a, int frame, dyn_reference_frame reference_frame,
                            double *twist, double *rate, double *dJ, dyn_error *error) {
    const dyn_workspace *w = workspace;
    const dynamics_inputs inputs = {NULL, q, v, "a", a, NULL};
    size_t nv = (size_t)model->nv;
    dyn_status status = dyn_check_inputs(model, w, n, &inputs, error);
    if (status == DYN_OK) {
        status = dyn_check_frame(model, frame, error);
    }
    if (status != DYN_OK) {
        return status;
    }
    if (frame == DYN_WORLD_FRAME) {
        store_rest(n, 6, twist);
        store_rest(n, 6, rate);
        store_rest(n, 6 * nv, dJ);
        return DYN_OK;
    }
    const results r = {3, {{"twist", twist, 6}, {"rate", rate, 6}, {"dJ", dJ, 6 * nv}}};
    for (sample_block block = dyn_block_first(w, n); status == DYN_OK && block.count > 0;
         block = dyn_block_next(w, n, block)) {
        const packed_inputs in = dyn_pack_inputs(model, w, &inputs, block, NULL);
        compute_motion(model, w, block, &in, frame, reference_frame);
        void *out[MAX_RESULTS] = {dyn_block_part(w, 0, block), dyn_block_part(w, 6, block),
                                  dyn_block_part(w, 12, block)};
        status = dyn_results_store(w, out, block, &r, error);
    }
    return status;
}
