/* SPDX-License-Identifier: BSD-2-Clause */
#include <dynamics/mass_matrix.h>

#include "../model/normal_form.h"
#include "arguments.h"
#include "compiled.h"
#include "results.h"
#include "workspace.h"

dyn_status dyn_crba(const dyn_model *model, dyn_workspace *workspace, size_t n, const double *q, double *M,
                    dyn_error *error) {
    dyn_status status = DYN_OK;
    if (dyn_compiled_serves(COMPILED_CRBA, model, workspace, NULL, q, NULL)) {
        compiled_task task = {COMPILED_CRBA, {q}, {M}, false, 0};
        if (dyn_compiled_run(&task, workspace, n)) {
            return DYN_OK;
        }
        status = dyn_check_q(workspace, n, q, error);
        return status == DYN_OK ? dyn_compiled_refusal(&task, workspace, error) : status;
    }
    if (!dyn_is_plain_q(model, workspace, n, q)) {
        status = dyn_check_state(model, workspace, n, NULL, q, NULL, error);
    }
    size_t entries = (size_t)model->nv * (size_t)model->nv;
    for (sample_block block = dyn_block_first_of_width(workspace, n, entries); status == DYN_OK && block.count > 0;
         block = dyn_block_next(workspace, n, block)) {
        void *out = dyn_block_output(workspace, M, entries, block);
        const void *in = dyn_block_pack(workspace, 0, q, (size_t)model->nq, block);
        if (!dyn_block_is_row(block)) {
            block.kernels->crba(model, workspace->memory, in, out);
            status = dyn_result_store(workspace, out, block, (result){"M", M, entries}, error);
        } else if (!block.kernels->crba_in_row(model, workspace->memory, in, out)) {
            status = dyn_check_result(workspace, "M", block.first + 1, entries, M, error);
        }
    }
    return status;
}

dyn_status dyn_minverse(const dyn_model *model, dyn_workspace *workspace, size_t n, const double *q, double *inverse,
                        dyn_error *error) {
    const dyn_workspace *w = workspace;
    compiled_task task = {COMPILED_MINVERSE, {q}, {inverse}, false, 0};
    if (dyn_compiled_compute(&task, model, w, n, NULL, NULL)) {
        return DYN_OK;
    }
    dyn_status status = dyn_check_workspace(model, w, error);
    if (status == DYN_OK) {
        status = dyn_check_q(w, n, q, error);
    }
    if (status == DYN_OK) {
        status = dyn_compiled_refusal(&task, w, error);
    }
    size_t entries = (size_t)model->nv * (size_t)model->nv;
    for (sample_block block = dyn_block_first_of_width(w, n, entries); status == DYN_OK && block.count > 0;
         block = dyn_block_next(w, n, block)) {
        const void *in = dyn_block_pack(w, 0, q, (size_t)model->nq, block);
        void *out = dyn_block_output(w, inverse, entries, block);
        block.kernels->minverse(model, w->memory, in, w->pivots, out);
        status = dyn_check_pivots(model, w, block, error);
        if (status == DYN_OK) {
            status = dyn_result_store(w, out, block, (result){"inverse", inverse, entries}, error);
        }
    }
    return status;
}

dyn_status dyn_mass_factors(const dyn_model *model, dyn_workspace *workspace, size_t n, const double *q,
                            double *factors, dyn_error *error) {
    const dyn_workspace *w = workspace;
    dyn_status status = dyn_check_workspace(model, w, error);
    if (status == DYN_OK) {
        status = dyn_check_q(w, n, q, error);
    }
    size_t entries = (size_t)model->nv * (size_t)model->nv;
    for (sample_block block = dyn_block_first_of_width(w, n, entries); status == DYN_OK && block.count > 0;
         block = dyn_block_next(w, n, block)) {
        const void *in = dyn_block_pack(w, 0, q, (size_t)model->nq, block);
        void *out = dyn_block_output(w, factors, entries, block);
        block.kernels->mass_factors(model, w->memory, in, w->pivots, out);
        status = dyn_check_pivots(model, w, block, error);
        if (status == DYN_OK) {
            status = dyn_result_store(w, out, block, (result){"factors", factors, entries}, error);
        }
    }
    return status;
}

/* Solves one sample at a time, from the caller's rows, which are double: packing the factors into lanes costs more than
 * solving. */
dyn_status dyn_mass_solve(const dyn_model *model, dyn_workspace *workspace, size_t n, const double *factors,
                          const double *b, double *x, dyn_error *error) {
    const dyn_workspace *w = workspace;
    dyn_status status = dyn_check_workspace(model, w, error);
    if (status == DYN_OK) {
        status = dyn_check_tangent(model, "b", n, b, error);
    }
    size_t nv = (size_t)model->nv;
    for (size_t s = 0; status == DYN_OK && s < n; s++) {
        const kernel_table *one = w->set->kernels[DYN_PRECISION_DOUBLE].one;
        one->mass_solve(model, w->memory, factors + s * nv * nv, b + s * nv, x + s * nv);
        one->unpack(x + s * nv, nv, 1, x + s * nv);
    }
    return status == DYN_OK ? dyn_check_double_result(w, "x", n, nv, x, error) : status;
}

/* Sets packed number i to a value in all lanes. */
static void set_packed(void *packed, size_t i, double value, sample_block block) {
    void *at = dyn_packed(packed, i, block);
    bool is_double = block.real_size == block.lanes * sizeof(double);
    for (size_t l = 0; l < block.lanes; l++) {
        if (is_double) {
            ((double *)at)[l] = value;
        } else {
            ((float *)at)[l] = (float)value;
        }
    }
}

/* Computes the inertias of one block: entry j of M e_j and of M^-1 e_j. */
static dyn_status compute_joint_inertias(const dyn_model *model, const dyn_workspace *w, sample_block block,
                                         const void *q, double *held, double *free, dyn_error *error) {
    static const double weightless[3] = {0};
    size_t nv = (size_t)model->nv;
    void *unit = dyn_block_part(w, 0, block), *x = dyn_block_part(w, nv, block);
    const packed_inputs in = {weightless, q, w->zero, unit, NULL};
    dyn_status status = DYN_OK;
    for (size_t j = 0; j < nv; j++) {
        set_packed(unit, j, 0, block);
    }
    for (size_t j = 0; j < nv && status == DYN_OK; j++) {
        set_packed(unit, j, 1, block);
        block.kernels->rnea(model, w->memory, &in, x);
        for (size_t l = 0; l < block.count; l++) {
            held[(block.first + l) * nv + j] = dyn_packed_number(x, j, block, l);
        }
        block.kernels->forward_dynamics(model, w->memory, &in, w->pivots, x);
        status = dyn_check_pivots(model, w, block, error);
        for (size_t l = 0; l < block.count; l++) {
            free[(block.first + l) * nv + j] = 1 / dyn_packed_number(x, j, block, l);
        }
        set_packed(unit, j, 0, block);
    }
    return status;
}

dyn_status dyn_joint_inertias(const dyn_model *model, dyn_workspace *workspace, size_t n, const double *q, double *held,
                              double *free, dyn_error *error) {
    const dyn_workspace *w = workspace;
    size_t nv = (size_t)model->nv;
    dyn_status status = dyn_check_state(model, w, n, NULL, q, NULL, error);
    for (sample_block block = dyn_block_first(w, n); status == DYN_OK && block.count > 0;
         block = dyn_block_next(w, n, block)) {
        const void *in = dyn_block_pack(w, 0, q, (size_t)model->nq, block);
        status = compute_joint_inertias(model, w, block, in, held, free, error);
    }
    status = status == DYN_OK ? dyn_check_result(w, "held", n, nv, held, error) : status;
    return status == DYN_OK ? dyn_check_result(w, "free", n, nv, free, error) : status;
}
