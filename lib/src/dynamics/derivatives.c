#include <dynamics/derivatives.h>

#include "../model/normal_form.h"
#include "arguments.h"
#include "workspace.h"

/* Three results, n matrices each. */
typedef struct results {
    const char *names[3];
    double *rows[3];
} results;

static dyn_status check_results(const dyn_workspace *w, size_t n, const results *r, dyn_error *error) {
    size_t entries = (size_t)w->model->nv * (size_t)w->model->nv;
    dyn_status status = DYN_OK;
    for (int i = 0; i < 3 && status == DYN_OK; i++) {
        status = dyn_check_result(w, r->names[i], n, entries, r->rows[i], error);
    }
    return status;
}

/* Where the kernel computes a block's matrices, */
static void find_matrices(const dyn_workspace *w, const results *r, sample_block block, void *out[3]) {
    for (int i = 0; i < 3; i++) {
        out[i] = dyn_block_matrix(w, i, r->rows[i], block);
    }
}

/* and their way to the caller. */
static void store_matrices(const dyn_workspace *w, void *const out[3], sample_block block, const results *r) {
    for (int i = 0; i < 3; i++) {
        dyn_block_unpack(out[i], (size_t)w->model->nv * (size_t)w->model->nv, block, r->rows[i]);
    }
}

dyn_status dyn_rnea_derivatives(const dyn_model *model, dyn_workspace *workspace, size_t n, const double *gravity,
                                const double *q, const double *v, const double *a, const dyn_external_forces *forces,
                                dyn_error *error, double *dtau_dq, double *dtau_dv, double *dtau_da) {
    const results r = {{"dtau_dq", "dtau_dv", "dtau_da"}, {dtau_dq, dtau_dv, dtau_da}};
    const dyn_workspace *w = workspace;
    dyn_status status = dyn_check_dynamics(model, w, n, gravity, q, v, "a", a, forces, error);
    if (status != DYN_OK) {
        return status;
    }
    size_t nq = (size_t)model->nq, nv = (size_t)model->nv;
    for (sample_block block = dyn_block_first_of_width(w, n, 3 * nv * nv); block.count > 0;
         block = dyn_block_next(w, n, block)) {
        wrench_set wrenches = dyn_block_wrenches(w, forces, block);
        void *out[3];
        find_matrices(w, &r, block, out);
        block.kernels->rnea_derivatives(model, w->memory, gravity ? gravity : model->gravity,
                                        dyn_block_pack(w, 0, q, nq, block), dyn_block_pack(w, 1, v, nv, block),
                                        dyn_block_pack(w, 2, a, nv, block), &wrenches, out[0], out[1], out[2]);
        store_matrices(w, out, block, &r);
    }
    return check_results(w, n, &r, error);
}

dyn_status dyn_aba_derivatives(const dyn_model *model, dyn_workspace *workspace, size_t n, const double *gravity,
                               const double *q, const double *v, const double *tau, const dyn_external_forces *forces,
                               dyn_error *error, double *da_dq, double *da_dv, double *da_dtau) {
    const results r = {{"da_dq", "da_dv", "da_dtau"}, {da_dq, da_dv, da_dtau}};
    const dyn_workspace *w = workspace;
    dyn_status status = dyn_check_dynamics(model, w, n, gravity, q, v, "tau", tau, forces, error);
    size_t nq = (size_t)model->nq, nv = (size_t)model->nv;
    for (sample_block block = dyn_block_first_of_width(w, n, 3 * nv * nv); status == DYN_OK && block.count > 0;
         block = dyn_block_next(w, n, block)) {
        wrench_set wrenches = dyn_block_wrenches(w, forces, block);
        void *out[3];
        find_matrices(w, &r, block, out);
        block.kernels->aba_derivatives(model, w->memory, gravity ? gravity : model->gravity,
                                       dyn_block_pack(w, 0, q, nq, block), dyn_block_pack(w, 1, v, nv, block),
                                       dyn_block_pack(w, 2, tau, nv, block), &wrenches, w->pivots, out[0], out[1],
                                       out[2]);
        store_matrices(w, out, block, &r);
        status = dyn_check_pivots(w, block, error);
    }
    return status == DYN_OK ? check_results(w, n, &r, error) : status;
}
