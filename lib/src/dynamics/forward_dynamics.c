#include <dynamics/forward_dynamics.h>

#include "../model/error.h"
#include "../model/normal_form.h"
#include "arguments.h"
#include "workspace.h"

static dyn_status check_arguments(const dyn_model *model, const dyn_workspace *workspace, size_t n,
                                  const double *gravity, const double *q, const double *v, const double *tau,
                                  const dyn_external_forces *forces, dyn_error *error) {
    dyn_status status = dyn_check_state(model, workspace, n, gravity, q, v, error);
    if (status == DYN_OK) {
        status = dyn_check_v(workspace, "tau", n, tau, error);
    }
    return status == DYN_OK ? dyn_check_forces(workspace, n, forces, error) : status;
}

/* Every pivot of a block is positive: M is positive definite. */
static dyn_status check_pivots(const dyn_workspace *w, sample_block block, dyn_error *error) {
    size_t lanes = block.lanes;
    for (int j = 0; j < w->model->joint_count; j++) {
        const dyn_joint *joint = &w->model->joints[j];
        for (size_t k = 0; k < (size_t)joint->nv; k++) {
            for (size_t l = 0; l < block.count; l++) {
                double pivot = w->pivots[((size_t)joint->v_index + k) * lanes + l];
                if (!(pivot > 0)) {
                    return dyn_error_set(error, DYN_FAILED_PRECONDITION, "model",
                                         "joint %s: the mass matrix is singular in sample %zu, no inertia resists the "
                                         "joint; give the links that it moves a mass and an inertia",
                                         joint->name, block.first + l);
                }
            }
        }
    }
    return DYN_OK;
}

dyn_status dyn_aba(const dyn_model *model, dyn_workspace *workspace, size_t n, const double *gravity, const double *q,
                   const double *v, const double *tau, const dyn_external_forces *forces, dyn_error *error, double *a) {
    const dyn_workspace *w = workspace;
    dyn_status status = check_arguments(model, w, n, gravity, q, v, tau, forces, error);
    size_t nq = (size_t)model->nq, nv = (size_t)model->nv;
    for (sample_block block = dyn_block_first(w, n); status == DYN_OK && block.count > 0;
         block = dyn_block_next(w, n, block)) {
        wrench_set wrenches = dyn_block_wrenches(w, forces, block);
        void *out = dyn_block_output(w, a, nv, block);
        block.kernels->aba(model, w->memory, gravity ? gravity : model->gravity, dyn_block_pack(w, 0, q, nq, block),
                           dyn_block_pack(w, 1, v, nv, block), dyn_block_pack(w, 2, tau, nv, block), &wrenches,
                           w->pivots, out);
        dyn_block_unpack(out, nv, block, a);
        status = check_pivots(w, block, error);
    }
    return status == DYN_OK ? dyn_check_result(workspace, "a", n, nv, a, error) : status;
}
