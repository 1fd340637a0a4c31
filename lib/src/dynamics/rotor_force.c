/* SPDX-License-Identifier: BSD-2-Clause */
#include <dynamics/rotor_force.h>

#include <string.h>

#include "../model/normal_form.h"
#include "arguments.h"
#include "results.h"
#include "workspace.h"

/* Computes the inverse dynamics of the bodies of a model with other inertias. */
static dyn_status compute(const dyn_model *model, const dyn_workspace *w, size_t n, const dynamics_inputs *in,
                          body *bodies, double *tau, dyn_error *error) {
    size_t nv = (size_t)model->nv;
    dyn_status status = dyn_check_inputs(model, w, n, in, error);
    if (status == DYN_OK && model->rotor_count == 0) {
        memset(tau, 0, n * nv * sizeof *tau);
        return DYN_OK;
    }
    dyn_model other = *model;
    other.bodies = bodies;
    for (sample_block block = dyn_block_first(w, n); status == DYN_OK && block.count > 0;
         block = dyn_block_next(w, n, block)) {
        wrench_set none = dyn_block_wrenches(w, NULL, block);
        packed_inputs packed = dyn_pack_inputs(model, w, in, block, &none);
        void *out = dyn_block_output(w, tau, nv, block);
        block.kernels->rnea(&other, w->memory, &packed, out);
        status = dyn_result_store(w, out, block, (result){"tau", tau, nv}, error);
    }
    return status;
}

dyn_status dyn_rotor_forces(const dyn_model *model, dyn_workspace *workspace, size_t n, const double *gravity,
                            const double *q, const double *v, const double *a, double *tau, dyn_error *error) {
    const dynamics_inputs in = {gravity, q, v, "a", a, NULL};
    return compute(model, workspace, n, &in, workspace->rotor_bodies, tau, error);
}

dyn_status dyn_rotor_coupling_forces(const dyn_model *model, dyn_workspace *workspace, size_t n, const double *q,
                                     const double *v, const double *a, double *tau, dyn_error *error) {
    static const double weightless[3] = {0};
    const dynamics_inputs in = {weightless, q, v, "a", a, NULL};
    dyn_status status = compute(model, workspace, n, &in, workspace->coupling_bodies, tau, error);
    for (int k = 0; status == DYN_OK && a && k < model->rotor_count; k++) {
        const model_rotor *r = &model->rotors[k];
        const body *spinning = &workspace->coupling_bodies[r->first_body];
        /* The spinning bodies have the apparent inertia as well. */
        double apparent = r->driven >= 0 ? spinning->ratio * spinning->ratio * spinning->inertia[5] : 0;
        for (size_t i = 0; apparent != 0 && i < n; i++) {
            size_t at = i * (size_t)model->nv + (size_t)spinning->v_index;
            tau[at] -= apparent * a[at];
        }
    }
    return status;
}
