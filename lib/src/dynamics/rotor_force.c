/* SPDX-License-Identifier: BSD-2-Clause */
#include <dynamics/rotor_force.h>

#include <string.h>

#include "../model/normal_form.h"
#include "../model/rotor.h"
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

/* Subtracts the apparent inertia I_a g g' of a rotor whose rate is g' v from tau. */
static void subtract_apparent(const dyn_model *model, const model_rotor *r, size_t n, const double *a, double *tau) {
    size_t nv = (size_t)model->nv;
    const body *first = &model->bodies[r->first_body];
    for (size_t i = 0; i < n; i++) {
        double rise = 0;
        for (int k = 0; k < r->body_count; k++) {
            rise += first[k].ratio * a[i * nv + (size_t)first[k].v_index];
        }
        for (int k = 0; k < r->body_count; k++) {
            tau[i * nv + (size_t)first[k].v_index] -= first[k].ratio * r->axial * rise;
        }
    }
}

dyn_status dyn_rotor_coupling_forces(const dyn_model *model, dyn_workspace *workspace, size_t n, const double *q,
                                     const double *v, const double *a, double *tau, dyn_error *error) {
    static const double weightless[3] = {0};
    const dynamics_inputs in = {weightless, q, v, "a", a, NULL};
    dyn_status status = compute(model, workspace, n, &in, workspace->coupling_bodies, tau, error);
    for (int k = 0; status == DYN_OK && a && k < model->rotor_count; k++) {
        if (rotor_is_exact(workspace->coupling_bodies, &model->rotors[k])) {
            subtract_apparent(model, &model->rotors[k], n, a, tau);
        }
    }
    return status;
}
