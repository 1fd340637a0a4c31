/* SPDX-License-Identifier: BSD-2-Clause */
#include <dynamics/articulated_inertia.h>

#include "../classical/array_check.h"
#include "../classical/classical.h"
#include "../model/error.h"
#include "../model/normal_form.h"
#include "arguments.h"

/* Returns whether coupled mimic joints or shafts bind bodies. */
static bool has_clusters(const dyn_model *model) {
    bool binds = false;
    for (int j = 0; j < model->joint_count; j++) {
        binds = binds || model->joints[j].master >= 0;
    }
    for (int i = 0; i < model->rotor_count; i++) {
        binds = binds || (model->rotors[i].driven < 0 && model->rotors[i].body_count > 0);
    }
    return binds;
}

/* Refuses frames that have no articulated inertia. */
static dyn_status check_frame(const dyn_model *model, int frame, dyn_error *error) {
    dyn_status status = dyn_check_frame(model, frame, error);
    if (status == DYN_OK && (frame == DYN_WORLD_FRAME || model->frames[frame].body < 0)) {
        return dyn_error_set(error, DYN_FAILED_PRECONDITION, "frame",
                             "frame %s is fixed to the world, and no moving body carries it; name a link that moves",
                             frame == DYN_WORLD_FRAME ? "world" : model->links[frame].name);
    }
    return status;
}

dyn_status dyn_articulated_inertia(const dyn_model *model, dyn_workspace *workspace, size_t n, const double *gravity,
                                   const double *q, const double *v, const double *tau,
                                   const dyn_external_forces *forces, int frame, dyn_reference_frame reference_frame,
                                   double *inertia, double *bias, dyn_error *error) {
    const dynamics_inputs in = {gravity, q, v, "tau", tau, forces};
    const size_t nq = (size_t)model->nq, nv = (size_t)model->nv;
    dyn_status status = dyn_check_inputs(model, workspace, n, &in, error);
    if (status == DYN_OK) {
        status = check_frame(model, frame, error);
    }
    for (size_t s = 0; status == DYN_OK && s < n; s++) {
        const articulated_frame of = {frame, reference_frame, has_clusters(model)};
        const formulation_call call = {.model = model,
                                       .gravity = gravity ? gravity : model->gravity,
                                       .memory = workspace->memory,
                                       .forces = forces,
                                       .sample = s};
        dyn_classical_instance_classical.articulated_inertia(
            &call, q + s * nq, v ? v + s * nv : NULL, tau ? tau + s * nv : NULL, &of, inertia + 36 * s, bias + 6 * s);
        if (!dyn_are_finite(inertia + 36 * s, 36) || !dyn_are_finite(bias + 6 * s, 6)) {
            const dyn_error_site site = {
                .cause = DYN_CAUSE_SINGULAR_MASS_MATRIX, .argument = "model", .has_sample = true, .sample = s};
            status = dyn_error_at(error, DYN_FAILED_PRECONDITION, &site,
                                  "no inertia resists a joint of the subtree, or the inputs are too large; set a mass "
                                  "and an inertia for the links that it moves");
        }
    }
    return status;
}
