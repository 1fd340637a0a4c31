/* SPDX-License-Identifier: BSD-2-Clause */
#include <dynamics/forward_dynamics.h>

#include "../model/normal_form.h"
#include "arguments.h"
#include "compiled.h"
#include "workspace.h"

/* Computes a of all samples by the kernels, block by block. */
static dyn_status compute_aba(const dyn_model *model, const dyn_workspace *w, size_t n, const dynamics_inputs *in,
                              double *a, dyn_error *error) {
    size_t nv = (size_t)model->nv;
    dyn_status status = dyn_is_right_call(model, w, n, in) ? DYN_OK : dyn_check_inputs(model, w, n, in, error);
    for (sample_block block = dyn_block_first(w, n); status == DYN_OK && block.count > 0;
         block = dyn_block_next(w, n, block)) {
        wrench_set wrenches = dyn_block_wrenches(w, in->forces, block);
        packed_inputs packed = {.forces = &wrenches};
        status = dyn_load_inputs(model, w, n, in, block, &packed, error);
        if (status != DYN_OK) {
            break;
        }
        void *out = dyn_block_output(w, a, nv, block);
        block.kernels->forward_dynamics(model, w->memory, &packed, w->pivots, out);
        bool is_finite = dyn_block_unpack(out, nv, block, a);
        status = dyn_check_pivots(model, w, block, error);
        if (status == DYN_OK && !is_finite) {
            status = dyn_check_result(w, "a", block.first + block.count, nv, a, error);
        }
    }
    return status;
}

dyn_status dyn_aba(const dyn_model *model, dyn_workspace *workspace, size_t n, const double *gravity, const double *q,
                   const double *v, const double *tau, const dyn_external_forces *forces, double *a, dyn_error *error) {
    const dyn_workspace *w = workspace;
    const dynamics_inputs in = {gravity, q, v, "tau", tau, forces};
    if (dyn_compiled_serves(COMPILED_ABA, model, w, gravity, q, forces)) {
        compiled_task task = {COMPILED_ABA, {q, v, tau}, {a}, false, 0};
        if (dyn_compiled_run(&task, w, n)) {
            return DYN_OK;
        }
        dyn_status status = dyn_check_inputs(model, w, n, &in, error);
        return status == DYN_OK ? dyn_compiled_refusal(&task, w, error) : status;
    }
    return compute_aba(model, w, n, &in, a, error);
}
