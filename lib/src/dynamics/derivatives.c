#include <dynamics/derivatives.h>

#include "../model/normal_form.h"
#include "arguments.h"
#include "workspace.h"

/* Three results called names[0..2], each n matrices. */
static dyn_status check_results(const dyn_workspace *w, const char *const names[3], size_t n, double *const results[3],
                                dyn_error *error) {
    size_t entries = (size_t)w->model->nv * (size_t)w->model->nv;
    dyn_status status = DYN_OK;
    for (int i = 0; i < 3 && status == DYN_OK; i++) {
        status = dyn_check_result(w, names[i], n, entries, results[i], error);
    }
    return status;
}

dyn_status dyn_rnea_derivatives(const dyn_model *model, dyn_workspace *workspace, size_t n, const double *gravity,
                                const double *q, const double *v, const double *a, const dyn_external_forces *forces,
                                dyn_error *error, double *dtau_dq, double *dtau_dv, double *dtau_da) {
    static const char *const names[3] = {"dtau_dq", "dtau_dv", "dtau_da"};
    const dyn_workspace *w = workspace;
    dyn_status status = dyn_check_state(model, w, n, gravity, q, v, error);
    if (status == DYN_OK) {
        status = dyn_check_v(w, "a", n, a, error);
    }
    if (status == DYN_OK) {
        status = dyn_check_forces(w, n, forces, error);
    }
    if (status != DYN_OK) {
        return status;
    }
    double *const results[3] = {dtau_dq, dtau_dv, dtau_da};
    size_t nq = (size_t)model->nq, nv = (size_t)model->nv;
    for (sample_block block = dyn_block_first_of_width(w, n, 3 * nv * nv); block.count > 0;
         block = dyn_block_next(w, n, block)) {
        wrench_set wrenches = dyn_block_wrenches(w, forces, block);
        void *out[3];
        for (int i = 0; i < 3; i++) {
            out[i] = dyn_block_matrix(w, i, results[i], block);
        }
        block.kernels->rnea_derivatives(model, w->memory, gravity ? gravity : model->gravity,
                                        dyn_block_pack(w, 0, q, nq, block), dyn_block_pack(w, 1, v, nv, block),
                                        dyn_block_pack(w, 2, a, nv, block), &wrenches, out[0], out[1], out[2]);
        for (int i = 0; i < 3; i++) {
            dyn_block_unpack(out[i], nv * nv, block, results[i]);
        }
    }
    return check_results(w, names, n, results, error);
}
