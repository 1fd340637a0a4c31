#include <dynamics/energy.h>

#include "../model/normal_form.h"
#include "arguments.h"
#include "workspace.h"

dyn_status dyn_energy(const dyn_model *model, dyn_workspace *workspace, size_t n, const double *gravity,
                      const double *q, const double *v, dyn_error *error, double *kinetic, double *potential) {
    const dyn_workspace *w = workspace;
    dyn_status status = dyn_check_state(model, w, n, gravity, q, v, error);
    if (status != DYN_OK) {
        return status;
    }
    for (sample_block block = dyn_block_first(w, n); block.count > 0; block = dyn_block_next(w, n, block)) {
        void *T = dyn_block_part(w, 0, block), *V = dyn_block_part(w, 1, block);
        block.kernels->energy(model, w->memory, gravity ? gravity : model->gravity,
                              dyn_block_pack(w, 0, q, (size_t)model->nq, block),
                              dyn_block_pack(w, 1, v, (size_t)model->nv, block), T);
        dyn_block_store(T, 1, block, kinetic);
        dyn_block_store(V, 1, block, potential);
    }
    const dyn_named_result results[] = {{"kinetic", 1, kinetic}, {"potential", 1, potential}};
    return dyn_check_results(w, n, results, 2, error);
}
