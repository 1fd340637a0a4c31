/* SPDX-License-Identifier: BSD-2-Clause */
#include <dynamics/coriolis.h>

#include "../model/normal_form.h"
#include "arguments.h"
#include "results.h"
#include "workspace.h"

dyn_status dyn_coriolis_matrix(const dyn_model *model, dyn_workspace *workspace, size_t n, const double *q,
                               const double *v, double *C, dyn_error *error) {
    const dyn_workspace *w = workspace;
    dyn_status status = dyn_check_state(model, w, n, NULL, q, v, error);
    if (status != DYN_OK) {
        return status;
    }
    size_t nq = (size_t)model->nq, nv = (size_t)model->nv;
    for (sample_block block = dyn_block_first_of_width(w, n, nv * nv); status == DYN_OK && block.count > 0;
         block = dyn_block_next(w, n, block)) {
        void *out = dyn_block_output(w, C, nv * nv, block);
        block.kernels->coriolis(model, w->memory, dyn_block_pack(w, 0, q, nq, block),
                                dyn_block_pack(w, 1, v, nv, block), out);
        status = dyn_result_store(w, out, block, (result){"C", C, nv * nv}, error);
    }
    return status;
}

dyn_status dyn_christoffel(const dyn_model *model, dyn_workspace *workspace, size_t n, const double *q, double *symbols,
                           dyn_error *error) {
    const dyn_workspace *w = workspace;
    dyn_status status = dyn_check_state(model, w, n, NULL, q, NULL, error);
    if (status != DYN_OK) {
        return status;
    }
    size_t nq = (size_t)model->nq, nv = (size_t)model->nv, entries = nv * nv * nv;
    /* C is linear in v: G_k is C at the unit velocity of coordinate k. */
    double *e = w->output;
    for (size_t k = 0; k < nv; k++) {
        e[k] = 0;
    }
    for (size_t s = 0; s < n; s++) {
        const sample_block state = dyn_block_of_one(w, s), unit = dyn_block_of_one(w, 0);
        const void *at = dyn_block_pack(w, 0, q, nq, state);
        for (size_t k = 0; k < nv; k++) {
            const sample_block column = dyn_block_of_one(w, s * nv + k);
            void *out = dyn_block_output(w, symbols, nv * nv, column);
            e[k] = 1;
            column.kernels->coriolis(model, w->memory, at, dyn_block_pack(w, 1, e, nv, unit), out);
            dyn_block_unpack(out, nv * nv, column, symbols);
            e[k] = 0;
        }
    }
    return dyn_check_result(w, "symbols", n, entries, symbols, error);
}
