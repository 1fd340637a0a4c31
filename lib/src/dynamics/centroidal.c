/* SPDX-License-Identifier: BSD-2-Clause */
#include <dynamics/centroidal.h>

#include "../model/error.h"
#include "../model/normal_form.h"
#include "arguments.h"
#include "results.h"
#include "workspace.h"

static dyn_status check_arguments(const dyn_model *model, const dyn_workspace *w, size_t n, const double *q,
                                  const double *v, dyn_error *error) {
    dyn_status status = dyn_check_state(model, w, n, NULL, q, v, error);
    return status == DYN_OK ? dyn_check_mass(model, error) : status;
}

dyn_status dyn_centroidal(const dyn_model *model, dyn_workspace *workspace, size_t n, const double *q, const double *v,
                          double *inertia, double *A_G, double *dA_G, dyn_error *error) {
    const dyn_workspace *w = workspace;
    dyn_status status = check_arguments(model, w, n, q, v, error);
    if (status != DYN_OK) {
        return status;
    }
    size_t nq = (size_t)model->nq, nv = (size_t)model->nv;
    const results r = {3, {{"inertia", inertia, 9}, {"A_G", A_G, 6 * nv}, {"dA_G", dA_G, 6 * nv}}};
    for (sample_block block = dyn_block_first(w, n); status == DYN_OK && block.count > 0;
         block = dyn_block_next(w, n, block)) {
        void *I = dyn_block_part(w, 0, block), *A = dyn_block_part(w, 9, block);
        void *dA = dyn_block_part(w, 9 + 6 * nv, block);
        block.kernels->centroidal(model, w->memory, dyn_block_pack(w, 0, q, nq, block),
                                  dyn_block_pack(w, 1, v, nv, block), w->zero, I, A, dA);
        void *out[MAX_RESULTS] = {I, A, dA};
        status = dyn_results_store(w, out, block, &r, error);
    }
    return status;
}

dyn_status dyn_centroidal_momentum(const dyn_model *model, dyn_workspace *workspace, size_t n, const double *q,
                                   const double *v, double *momentum, dyn_error *error) {
    const dyn_workspace *w = workspace;
    dyn_status status = check_arguments(model, w, n, q, v, error);
    if (status != DYN_OK) {
        return status;
    }
    size_t nq = (size_t)model->nq, nv = (size_t)model->nv;
    for (sample_block block = dyn_block_first(w, n); status == DYN_OK && block.count > 0;
         block = dyn_block_next(w, n, block)) {
        void *h = dyn_block_part(w, 0, block);
        block.kernels->centroidal_momentum(model, w->memory, dyn_block_pack(w, 0, q, nq, block),
                                           dyn_block_pack(w, 1, v, nv, block), w->zero, h);
        status = dyn_result_store(w, h, block, (result){"momentum", momentum, 6}, error);
    }
    return status;
}
