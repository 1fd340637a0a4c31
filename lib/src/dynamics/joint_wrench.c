/* SPDX-License-Identifier: BSD-2-Clause */
#include <dynamics/joint_wrench.h>

#include <dynamics/inverse_dynamics.h>

#include "../model/normal_form.h"
#include "arguments.h"
#include "results.h"
#include "workspace.h"

dyn_status dyn_joint_wrenches(const dyn_model *model, dyn_workspace *workspace, size_t n, const double *gravity,
                              const double *q, const double *v, const double *a, const dyn_external_forces *forces,
                              double *wrenches, dyn_error *error) {
    const dyn_workspace *w = workspace;
    const dynamics_inputs in = {gravity, q, v, "a", a, forces};
    dyn_status status = dyn_check_inputs(model, w, n, &in, error);
    if (status != DYN_OK) {
        return status;
    }
    size_t width = 6 * (size_t)model->joint_count;
    for (sample_block block = dyn_block_first_of_width(w, n, width); status == DYN_OK && block.count > 0;
         block = dyn_block_next(w, n, block)) {
        wrench_set external = dyn_block_wrenches(w, forces, block);
        void *out = dyn_block_output(w, wrenches, width, block);
        const packed_inputs packed = dyn_pack_inputs(model, w, &in, block, &external);
        block.kernels->joint_wrenches(model, w->memory, &packed, out);
        status = dyn_result_store(w, out, block, (result){"wrenches", wrenches, width}, error);
    }
    return status;
}

dyn_status dyn_frame_force(const dyn_model *model, dyn_workspace *workspace, size_t n, const double *q, int frame,
                           dyn_reference_frame reference_frame, const double *F, double *tau, dyn_error *error) {
    /* Without gravity and at rest, tau depends on the wrench alone. RNEA expects the wrench that the environment
     * exerts. */
    static const double none[3] = {0, 0, 0};
    const dyn_external_force force = {frame, reference_frame, F, 6};
    const dyn_external_forces forces = {1, &force};
    dyn_status status = dyn_rnea(model, workspace, n, none, q, NULL, NULL, &forces, tau, error);
    for (size_t i = 0; status == DYN_OK && i < n * (size_t)model->nv; i++) {
        tau[i] = -tau[i];
    }
    return status;
}
