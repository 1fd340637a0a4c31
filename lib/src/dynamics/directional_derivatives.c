/* SPDX-License-Identifier: BSD-2-Clause */
#include <dynamics/derivatives.h>

#include "../model/normal_form.h"
#include "arguments.h"
#include "workspace.h"

/* Increments of the three arguments of inverse or forward dynamics. `name` is that of the third in errors. */
typedef struct increments {
    const double *dq, *dv, *third;
    const char *name;
} increments;

static dyn_status check_increments(const dyn_workspace *w, size_t n, const increments *x, dyn_error *error) {
    dyn_status status = dyn_check_v(w, "dq", n, x->dq, error);
    if (status == DYN_OK) {
        status = dyn_check_v(w, "dv", n, x->dv, error);
    }
    return status == DYN_OK ? dyn_check_v(w, x->name, n, x->third, error) : status;
}

static packed_increments pack_increments(const dyn_model *model, const dyn_workspace *w, const increments *x,
                                         sample_block block) {
    const size_t nv = (size_t)model->nv;
    return (packed_increments){dyn_block_pack(w, 3, x->dq, nv, block), dyn_block_pack(w, 4, x->dv, nv, block),
                               dyn_block_pack(w, 5, x->third, nv, block)};
}

dyn_status dyn_rnea_directional_derivative(const dyn_model *model, dyn_workspace *workspace, size_t n,
                                           const double *gravity, const double *q, const double *v, const double *a,
                                           const dyn_external_forces *forces, const double *dq, const double *dv,
                                           const double *da, double *dtau, dyn_error *error) {
    const dyn_workspace *w = workspace;
    const increments x = {dq, dv, da, "da"};
    const dynamics_inputs in = {gravity, q, v, "a", a, forces};
    size_t nv = (size_t)model->nv;
    dyn_status status = dyn_check_inputs(model, w, n, &in, error);
    if (status == DYN_OK) {
        status = check_increments(w, n, &x, error);
    }
    if (status != DYN_OK) {
        return status;
    }
    for (sample_block block = dyn_block_first(w, n); block.count > 0; block = dyn_block_next(w, n, block)) {
        wrench_set wrenches = dyn_block_wrenches(w, forces, block);
        void *out = dyn_block_output(w, dtau, nv, block);
        const packed_inputs packed = dyn_pack_inputs(model, w, &in, block, &wrenches);
        const packed_increments along = pack_increments(model, w, &x, block);
        block.kernels->rnea_directional(model, w->memory, &packed, &along, out);
        dyn_block_unpack(out, nv, block, dtau);
    }
    return dyn_check_result(w, "dtau", n, nv, dtau, error);
}

dyn_status dyn_aba_directional_derivative(const dyn_model *model, dyn_workspace *workspace, size_t n,
                                          const double *gravity, const double *q, const double *v, const double *tau,
                                          const dyn_external_forces *forces, const double *dq, const double *dv,
                                          const double *dtau, double *da, dyn_error *error) {
    const dyn_workspace *w = workspace;
    const increments x = {dq, dv, dtau, "dtau"};
    const dynamics_inputs in = {gravity, q, v, "tau", tau, forces};
    size_t nv = (size_t)model->nv;
    dyn_status status = dyn_check_inputs(model, w, n, &in, error);
    if (status == DYN_OK) {
        status = check_increments(w, n, &x, error);
    }
    for (sample_block block = dyn_block_first(w, n); status == DYN_OK && block.count > 0;
         block = dyn_block_next(w, n, block)) {
        wrench_set wrenches = dyn_block_wrenches(w, forces, block);
        void *out = dyn_block_output(w, da, nv, block);
        const packed_inputs packed = dyn_pack_inputs(model, w, &in, block, &wrenches);
        const packed_increments along = pack_increments(model, w, &x, block);
        block.kernels->aba_directional(model, w->memory, &packed, &along, w->pivots, out);
        dyn_block_unpack(out, nv, block, da);
        status = dyn_check_pivots(model, w, block, error);
    }
    return status == DYN_OK ? dyn_check_result(w, "da", n, nv, da, error) : status;
}
