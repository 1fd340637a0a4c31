/* SPDX-License-Identifier: BSD-2-Clause */
#include <dynamics/second_derivatives.h>

#include "../model/normal_form.h"
#include "arguments.h"
#include "results.h"
#include "workspace.h"

dyn_status dyn_rnea_second_derivatives(const dyn_model *model, dyn_workspace *workspace, size_t n,
                                       const double *gravity, const double *q, const double *v, const double *a,
                                       double *d2tau_dqdq, double *d2tau_dvdv, double *d2tau_dqdv, double *dM_dq,
                                       dyn_error *error) {
    size_t nv = (size_t)model->nv, cube = nv * nv * nv;
    const results r = {4,
                       {{"d2tau_dqdq", d2tau_dqdq, cube},
                        {"d2tau_dvdv", d2tau_dvdv, cube},
                        {"d2tau_dqdv", d2tau_dqdv, cube},
                        {"dM_dq", dM_dq, cube}}};
    const dyn_workspace *w = workspace;
    const dynamics_inputs in = {gravity, q, v, "a", a, NULL};
    dyn_status status = dyn_check_inputs(model, w, n, &in, error);
    if (status != DYN_OK) {
        return status;
    }
    for (sample_block block = dyn_block_first_of_width(w, n, dyn_results_width(&r));
         status == DYN_OK && block.count > 0; block = dyn_block_next(w, n, block)) {
        void *out[MAX_RESULTS];
        dyn_results_find(w, &r, block, out);
        const packed_inputs packed = dyn_pack_inputs(model, w, &in, block, NULL);
        const derivative_cubes second = {out[0], out[1], out[2], out[3]};
        block.kernels->rnea_second_derivatives(model, w->memory, &packed, &second);
        status = dyn_results_store(w, out, block, &r, error);
    }
    return status;
}

dyn_status dyn_aba_second_derivatives(const dyn_model *model, dyn_workspace *workspace, size_t n, const double *gravity,
                                      const double *q, const double *v, const double *tau, double *const first[3],
                                      double *const second[4], dyn_error *error) {
    size_t nv = (size_t)model->nv, square = nv * nv, cube = nv * square;
    const results r = {7,
                       {{"first[0]", first[0], square},
                        {"first[1]", first[1], square},
                        {"first[2]", first[2], square},
                        {"second[0]", second[0], cube},
                        {"second[1]", second[1], cube},
                        {"second[2]", second[2], cube},
                        {"second[3]", second[3], cube}}};
    const dyn_workspace *w = workspace;
    const dynamics_inputs in = {gravity, q, v, "tau", tau, NULL};
    dyn_status status = dyn_check_inputs(model, w, n, &in, error);
    for (sample_block block = dyn_block_first_of_width(w, n, dyn_results_width(&r));
         status == DYN_OK && block.count > 0; block = dyn_block_next(w, n, block)) {
        void *out[MAX_RESULTS];
        dyn_results_find(w, &r, block, out);
        const packed_inputs packed = dyn_pack_inputs(model, w, &in, block, NULL);
        const derivative_matrices da = {out[0], out[1], out[2]};
        const derivative_cubes d2a = {out[3], out[4], out[5], out[6]};
        block.kernels->aba_second_derivatives(model, w->memory, &packed, w->pivots, &da, &d2a);
        status = dyn_check_pivots(model, w, block, error);
        if (status == DYN_OK) {
            status = dyn_results_store(w, out, block, &r, error);
        }
    }
    return status;
}
