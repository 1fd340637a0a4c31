/* SPDX-License-Identifier: BSD-2-Clause */
#include <dynamics/derivatives.h>

#include <string.h>

#include "../model/normal_form.h"
#include "arguments.h"
#include "compiled.h"
#include "results.h"
#include "workspace.h"

/* Computes n samples by compiled functions. Where one of their checks fails, finds the error. */
static dyn_status run_compiled(compiled_task *task, const dyn_model *model, const dyn_workspace *w, size_t n,
                               const dynamics_inputs *in, dyn_error *error) {
    if (dyn_compiled_run(task, w, n)) {
        return DYN_OK;
    }
    dyn_status status = dyn_check_inputs(model, w, n, in, error);
    return status == DYN_OK ? dyn_compiled_refusal(task, w, error) : status;
}

dyn_status dyn_rnea_derivatives(const dyn_model *model, dyn_workspace *workspace, size_t n, const double *gravity,
                                const double *q, const double *v, const double *a, const dyn_external_forces *forces,
                                double *dtau_dq, double *dtau_dv, double *dtau_da, dyn_error *error) {
    const size_t entries = (size_t)model->nv * (size_t)model->nv;
    const dyn_workspace *w = workspace;
    const dynamics_inputs in = {gravity, q, v, "a", a, forces};
    if (dyn_compiled_serves(COMPILED_RNEA_DERIVATIVES, model, w, gravity, q, forces)) {
        compiled_task task = {COMPILED_RNEA_DERIVATIVES, {q, v, a}, {dtau_dq, dtau_dv, dtau_da}, false, 0};
        return run_compiled(&task, model, w, n, &in, error);
    }
    dyn_status status = dyn_is_right_call(model, w, n, &in) ? DYN_OK : dyn_check_inputs(model, w, n, &in, error);
    for (sample_block block = dyn_block_first_of_width(w, n, 3 * entries); status == DYN_OK && block.count > 0;
         block = dyn_block_next(w, n, block)) {
        wrench_set wrenches = dyn_block_wrenches(w, forces, block);
        packed_inputs packed = {.forces = &wrenches};
        void *out[MAX_RESULTS] = {dyn_block_output_at(w, 0, dtau_dq, entries, block),
                                  dyn_block_output_at(w, entries, dtau_dv, entries, block),
                                  dyn_block_output_at(w, 2 * entries, dtau_da, entries, block)};
        const derivative_matrices dtau = {out[0], out[1], out[2]};
        status = dyn_load_inputs(model, w, n, &in, block, &packed, error);
        if (status == DYN_OK && !block.kernels->rnea_derivatives(model, w->memory, &packed, &dtau)) {
            const results r = {
                3, {{"dtau_dq", dtau_dq, entries}, {"dtau_dv", dtau_dv, entries}, {"dtau_da", dtau_da, entries}}};
            status = dyn_results_store(w, out, block, &r, error);
        }
    }
    return status;
}

dyn_status dyn_aba_derivatives(const dyn_model *model, dyn_workspace *workspace, size_t n, const double *gravity,
                               const double *q, const double *v, const double *tau, const dyn_external_forces *forces,
                               double *da_dq, double *da_dv, double *da_dtau, dyn_error *error) {
    const size_t entries = (size_t)model->nv * (size_t)model->nv;
    const dyn_workspace *w = workspace;
    const dynamics_inputs in = {gravity, q, v, "tau", tau, forces};
    if (dyn_compiled_serves(COMPILED_ABA_DERIVATIVES, model, w, gravity, q, forces)) {
        compiled_task task = {COMPILED_ABA_DERIVATIVES, {q, v, tau}, {da_dq, da_dv, da_dtau}, false, 0};
        return run_compiled(&task, model, w, n, &in, error);
    }
    const results r = {3, {{"da_dq", da_dq, entries}, {"da_dv", da_dv, entries}, {"da_dtau", da_dtau, entries}}};
    dyn_status status = dyn_is_right_call(model, w, n, &in) ? DYN_OK : dyn_check_inputs(model, w, n, &in, error);
    for (sample_block block = dyn_block_first_of_width(w, n, dyn_results_width(&r));
         status == DYN_OK && block.count > 0; block = dyn_block_next(w, n, block)) {
        wrench_set wrenches = dyn_block_wrenches(w, forces, block);
        packed_inputs packed = {.forces = &wrenches};
        void *out[MAX_RESULTS];
        status = dyn_load_inputs(model, w, n, &in, block, &packed, error);
        if (status != DYN_OK) {
            break;
        }
        dyn_results_find(w, &r, block, out);
        const derivative_matrices da = {out[0], out[1], out[2]};
        block.kernels->aba_derivatives(model, w->memory, &packed, w->pivots, &da);
        status = dyn_check_pivots(model, w, block, error);
        if (status == DYN_OK) {
            status = dyn_results_store(w, out, block, &r, error);
        }
    }
    return status;
}

dyn_status dyn_gravity_derivatives(const dyn_model *model, dyn_workspace *workspace, size_t n, const double *gravity,
                                   const double *q, double *dg_dq, dyn_error *error) {
    size_t nq = (size_t)model->nq, nv = (size_t)model->nv;
    const dyn_workspace *w = workspace;
    dyn_status status = dyn_check_state(model, w, n, gravity, q, NULL, error);
    if (status != DYN_OK) {
        return status;
    }
    for (sample_block block = dyn_block_first_of_width(w, n, nv * nv); status == DYN_OK && block.count > 0;
         block = dyn_block_next(w, n, block)) {
        void *out = dyn_block_output(w, dg_dq, nv * nv, block);
        block.kernels->gravity_derivatives(model, w->memory, gravity ? gravity : model->gravity,
                                           dyn_block_pack(w, 0, q, nq, block), out);
        status = dyn_result_store(w, out, block, (result){"dg_dq", dg_dq, nv * nv}, error);
    }
    return status;
}

dyn_status dyn_frame_derivatives(const dyn_model *model, dyn_workspace *workspace, size_t n, const double *q,
                                 const double *v, const double *a, int frame, dyn_reference_frame reference_frame,
                                 double *dV_dq, double *dA_dq, double *dA_dv, double *J, dyn_error *error) {
    size_t nv = (size_t)model->nv;
    const results r = {
        4, {{"dV_dq", dV_dq, 6 * nv}, {"dA_dq", dA_dq, 6 * nv}, {"dA_dv", dA_dv, 6 * nv}, {"J", J, 6 * nv}}};
    const dyn_workspace *w = workspace;
    const dynamics_inputs in = {NULL, q, v, "a", a, NULL};
    dyn_status status = dyn_check_inputs(model, w, n, &in, error);
    if (status == DYN_OK) {
        status = dyn_check_frame(model, frame, error);
    }
    if (status != DYN_OK) {
        return status;
    }
    if (frame == DYN_WORLD_FRAME) {
        for (size_t i = 0; i < r.count; i++) {
            memset(r.of[i].rows, 0, n * r.of[i].width * sizeof(double));
        }
        return DYN_OK;
    }
    for (sample_block block = dyn_block_first_of_width(w, n, dyn_results_width(&r));
         status == DYN_OK && block.count > 0; block = dyn_block_next(w, n, block)) {
        void *out[MAX_RESULTS];
        dyn_results_find(w, &r, block, out);
        const packed_inputs packed = dyn_pack_inputs(model, w, &in, block, NULL);
        const spatial_derivatives at = {out[0], out[1], out[2], out[3]};
        block.kernels->frame_derivatives(model, w->memory, packed.q, packed.v, packed.third, frame, reference_frame,
                                         &at);
        status = dyn_results_store(w, out, block, &r, error);
    }
    return status;
}

dyn_status dyn_frame_hessian(const dyn_model *model, dyn_workspace *workspace, size_t n, const double *q, int frame,
                             dyn_reference_frame reference_frame, double *H, dyn_error *error) {
    size_t nq = (size_t)model->nq, width = 6 * (size_t)model->nv * (size_t)model->nv;
    const dyn_workspace *w = workspace;
    dyn_status status = dyn_check_state(model, w, n, NULL, q, NULL, error);
    if (status == DYN_OK) {
        status = dyn_check_frame(model, frame, error);
    }
    if (status != DYN_OK) {
        return status;
    }
    if (frame == DYN_WORLD_FRAME) {
        memset(H, 0, n * width * sizeof *H);
        return DYN_OK;
    }
    for (sample_block block = dyn_block_first_of_width(w, n, width); status == DYN_OK && block.count > 0;
         block = dyn_block_next(w, n, block)) {
        void *out = dyn_block_output(w, H, width, block);
        block.kernels->frame_hessian(model, w->memory, dyn_block_pack(w, 0, q, nq, block), frame, reference_frame, out);
        status = dyn_result_store(w, out, block, (result){"H", H, width}, error);
    }
    return status;
}

dyn_status dyn_centroidal_derivatives(const dyn_model *model, dyn_workspace *workspace, size_t n, const double *q,
                                      const double *v, const double *a, double *dh_dq, double *drate_dq,
                                      double *drate_dv, double *A_G, dyn_error *error) {
    size_t nv = (size_t)model->nv;
    const results r = {4,
                       {{"dh_dq", dh_dq, 6 * nv},
                        {"drate_dq", drate_dq, 6 * nv},
                        {"drate_dv", drate_dv, 6 * nv},
                        {"A_G", A_G, 6 * nv}}};
    const dyn_workspace *w = workspace;
    const dynamics_inputs in = {NULL, q, v, "a", a, NULL};
    dyn_status status = dyn_check_inputs(model, w, n, &in, error);
    if (status == DYN_OK) {
        status = dyn_check_mass(model, error);
    }
    if (status != DYN_OK) {
        return status;
    }
    for (sample_block block = dyn_block_first_of_width(w, n, dyn_results_width(&r));
         status == DYN_OK && block.count > 0; block = dyn_block_next(w, n, block)) {
        void *out[MAX_RESULTS];
        dyn_results_find(w, &r, block, out);
        const packed_inputs packed = dyn_pack_inputs(model, w, &in, block, NULL);
        const spatial_derivatives at = {out[0], out[1], out[2], out[3]};
        block.kernels->centroidal_derivatives(model, w->memory, packed.q, packed.v, packed.third, &at);
        status = dyn_results_store(w, out, block, &r, error);
    }
    return status;
}
