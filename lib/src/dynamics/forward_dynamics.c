#include <dynamics/forward_dynamics.h>

#include "../model/normal_form.h"
#include "arguments.h"
#include "compiled.h"
#include "workspace.h"

dyn_status dyn_aba(const dyn_model *model, dyn_workspace *workspace, size_t n, const double *gravity, const double *q,
                   const double *v, const double *tau, const dyn_external_forces *forces, dyn_error *error, double *a) {
    const dyn_workspace *w = workspace;
    dyn_status status = DYN_OK;
    if (dyn_compiled_serves(COMPILED_ABA, model, w, gravity, q, forces)) {
        compiled_task task = {COMPILED_ABA, {q, v, tau}, {a}, false, 0};
        if (dyn_compiled_run(&task, w, n)) {
            return DYN_OK;
        }
        status = dyn_check_dynamics(model, w, n, gravity, q, v, "tau", tau, forces, error);
        return status == DYN_OK ? dyn_compiled_refusal(&task, w, error) : status;
    }
    if (gravity || forces || !dyn_is_plain(model, w, n, q, v, tau)) {
        status = dyn_check_dynamics(model, w, n, gravity, q, v, "tau", tau, forces, error);
    }
    size_t nq = (size_t)model->nq, nv = (size_t)model->nv;
    bool is_finite = true;
    for (sample_block block = dyn_block_first(w, n); status == DYN_OK && block.count > 0;
         block = dyn_block_next(w, n, block)) {
        wrench_set wrenches = dyn_block_wrenches(w, forces, block);
        const void *in[] = {dyn_block_pack(w, 0, q, nq, block), dyn_block_pack(w, 1, v, nv, block),
                            dyn_block_pack(w, 2, tau, nv, block)};
        void *out = dyn_block_output(w, a, nv, block);
        block.kernels->aba(model, w->memory, gravity ? gravity : model->gravity, in[0], in[1], in[2], &wrenches,
                           w->pivots, out);
        is_finite = dyn_block_unpack(out, nv, block, a) && is_finite;
        status = dyn_check_pivots(w, block, error);
    }
    return status == DYN_OK && !is_finite ? dyn_check_result(workspace, "a", n, nv, a, error) : status;
}
