/* SPDX-License-Identifier: BSD-2-Clause */
#include <dynamics/energy.h>

#include "../model/normal_form.h"
#include "arguments.h"
#include "results.h"
#include "workspace.h"

dyn_status dyn_energy(const dyn_model *model, dyn_workspace *workspace, size_t n, const double *gravity,
                      const double *q, const double *v, double *kinetic, double *potential, dyn_error *error) {
    const dyn_workspace *w = workspace;
    dyn_status status = dyn_check_state(model, w, n, gravity, q, v, error);
    if (status != DYN_OK) {
        return status;
    }
    const results r = {2, {{"kinetic", kinetic, 1}, {"potential", potential, 1}}};
    for (sample_block block = dyn_block_first(w, n); status == DYN_OK && block.count > 0;
         block = dyn_block_next(w, n, block)) {
        void *T = dyn_block_part(w, 0, block), *V = dyn_block_part(w, 1, block);
        block.kernels->energy(model, w->memory, gravity ? gravity : model->gravity,
                              dyn_block_pack(w, 0, q, (size_t)model->nq, block),
                              dyn_block_pack(w, 1, v, (size_t)model->nv, block), T);
        void *out[MAX_RESULTS] = {T, V};
        status = dyn_results_store(w, out, block, &r, error);
    }
    return status;
}
