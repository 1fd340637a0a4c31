/* SPDX-License-Identifier: BSD-2-Clause */
#include <dynamics/inverse_dynamics.h>

#include "../model/normal_form.h"
#include "arguments.h"
#include "compiled.h"
#include "workspace.h"

/* Computes tau of all samples by the kernels, block by block. Errors call it `name`. */
static dyn_status compute_rnea(const dyn_model *model, const dyn_workspace *w, size_t n, const dynamics_inputs *in,
                               const char *name, double *tau, dyn_error *error) {
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
        void *out = dyn_block_output(w, tau, nv, block);
        block.kernels->rnea(model, w->memory, &packed, out);
        if (!dyn_block_unpack(out, nv, block, tau)) {
            status = dyn_check_result(w, name, block.first + block.count, nv, tau, error);
        }
    }
    return status;
}

dyn_status dyn_rnea(const dyn_model *model, dyn_workspace *workspace, size_t n, const double *gravity, const double *q,
                    const double *v, const double *a, const dyn_external_forces *forces, double *tau,
                    dyn_error *error) {
    compiled_algorithm algorithm = a ? COMPILED_RNEA : COMPILED_BIAS;
    const dynamics_inputs in = {gravity, q, v, "a", a, forces};
    if (dyn_compiled_serves(algorithm, model, workspace, gravity, q, forces)) {
        compiled_task task = {algorithm, {q, v, a}, {tau}, false, 0};
        if (dyn_compiled_run(&task, workspace, n)) {
            return DYN_OK;
        }
        dyn_status status = dyn_check_inputs(model, workspace, n, &in, error);
        return status == DYN_OK ? dyn_compiled_refusal(&task, workspace, error) : status;
    }
    return compute_rnea(model, workspace, n, &in, "tau", tau, error);
}

dyn_status dyn_bias(const dyn_model *model, dyn_workspace *workspace, size_t n, const double *gravity, const double *q,
                    const double *v, double *h, dyn_error *error) {
    if (dyn_compiled_serves(COMPILED_BIAS, model, workspace, gravity, q, NULL)) {
        compiled_task task = {COMPILED_BIAS, {q, v}, {h}, false, 0};
        if (dyn_compiled_run(&task, workspace, n)) {
            return DYN_OK;
        }
        dyn_status status = dyn_check_state(model, workspace, n, gravity, q, v, error);
        return status == DYN_OK ? dyn_compiled_refusal(&task, workspace, error) : status;
    }
    dynamics_inputs in = {gravity, q, v, "a", NULL, NULL};
    return compute_rnea(model, workspace, n, &in, "h", h, error);
}

dyn_status dyn_gravity(const dyn_model *model, dyn_workspace *workspace, size_t n, const double *gravity,
                       const double *q, double *g, dyn_error *error) {
    if (dyn_compiled_serves(COMPILED_GRAVITY, model, workspace, gravity, q, NULL)) {
        compiled_task task = {COMPILED_GRAVITY, {q}, {g}, false, 0};
        if (dyn_compiled_run(&task, workspace, n)) {
            return DYN_OK;
        }
        dyn_status status = dyn_check_state(model, workspace, n, gravity, q, NULL, error);
        return status == DYN_OK ? dyn_compiled_refusal(&task, workspace, error) : status;
    }
    if (gravity || !dyn_is_plain_q(model, workspace, n, q)) {
        dyn_status status = dyn_check_state(model, workspace, n, gravity, q, NULL, error);
        if (status != DYN_OK) {
            return status;
        }
    }
    size_t nv = (size_t)model->nv;
    bool is_finite = true;
    for (sample_block block = dyn_block_first(workspace, n); block.count > 0;
         block = dyn_block_next(workspace, n, block)) {
        const void *in = dyn_block_pack(workspace, 0, q, (size_t)model->nq, block);
        void *out = dyn_block_output(workspace, g, nv, block);
        block.kernels->gravity(model, workspace->memory, gravity ? gravity : model->gravity, in, out);
        is_finite = dyn_block_unpack(out, nv, block, g) && is_finite;
    }
    return is_finite ? DYN_OK : dyn_check_result(workspace, "g", n, nv, g, error);
}
