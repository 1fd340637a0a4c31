/* SPDX-License-Identifier: BSD-2-Clause */
#include <dynamics/regressor.h>

#include <string.h>

#include "../model/merge.h"
#include "../model/normal_form.h"
#include "../model/placement.h"
#include "../model/rotor.h"
#include "arguments.h"
#include "results.h"
#include "workspace.h"

enum { PARAMETERS = 10 };

int dyn_model_parameter_count(const dyn_model *model) {
    return PARAMETERS * model->joint_count;
}

/* Stores the parameters of body b in the frame of the child link of joint j. */
static void store_parameters(const dyn_model *model, int j, const body *b, double *p) {
    double back[9], h[3], I[6];
    /* The body's axes are turned relative to the link's. */
    rotation_transpose(model->frames[model->joints[j].child_link].pose.rotation, back);
    rotation_apply(back, b->first_moment, h);
    rotate_symmetric(back, b->inertia, I);
    const double own[PARAMETERS] = {b->mass, h[0], h[1], h[2], I[0], I[1], I[3], I[2], I[4], I[5]};
    memcpy(p, own, sizeof own);
}

/* Subtracts what a rotor adds to the parameters of the body that carries it. */
static void subtract_rotor(const dyn_model *model, const model_rotor *r, double *p) {
    int carrier = rotor_carrier(model, r);
    double own[PARAMETERS];
    body b = {0};
    if (carrier >= 0) {
        int j = model->bodies[carrier].joint;
        body_clear_inertia(&b);
        merge_carried(model, r, &b);
        store_parameters(model, j, &b, own);
        for (int k = 0; k < PARAMETERS; k++) {
            p[PARAMETERS * j + k] -= own[k];
        }
    }
}

void dyn_model_parameters(const dyn_model *model, double *p) {
    for (int j = 0; j < model->joint_count; j++) {
        const body_frame *link = &model->frames[model->joints[j].child_link];
        store_parameters(model, j, &model->bodies[link->body], p + PARAMETERS * j);
    }
    for (int i = 0; i < model->rotor_count; i++) {
        subtract_rotor(model, &model->rotors[i], p);
    }
}

dyn_status dyn_torque_regressor(const dyn_model *model, dyn_workspace *workspace, size_t n, const double *gravity,
                                const double *q, const double *v, const double *a, double *Y, dyn_error *error) {
    const dyn_workspace *w = workspace;
    const dynamics_inputs in = {gravity, q, v, "a", a, NULL};
    dyn_status status = dyn_check_inputs(model, w, n, &in, error);
    if (status != DYN_OK) {
        return status;
    }
    size_t entries = (size_t)model->nv * (size_t)dyn_model_parameter_count(model);
    for (sample_block block = dyn_block_first_of_width(w, n, entries); status == DYN_OK && block.count > 0;
         block = dyn_block_next(w, n, block)) {
        void *out = dyn_block_output(w, Y, entries, block);
        const packed_inputs packed = dyn_pack_inputs(model, w, &in, block, NULL);
        block.kernels->regressor(model, w->memory, &packed, out);
        status = dyn_result_store(w, out, block, (result){"Y", Y, entries}, error);
    }
    return status;
}

dyn_status dyn_energy_regressor(const dyn_model *model, dyn_workspace *workspace, size_t n, const double *gravity,
                                const double *q, const double *v, double *y_T, double *y_V, dyn_error *error) {
    const dyn_workspace *w = workspace;
    dyn_status status = dyn_check_state(model, w, n, gravity, q, v, error);
    if (status != DYN_OK) {
        return status;
    }
    size_t nq = (size_t)model->nq, nv = (size_t)model->nv, entries = (size_t)dyn_model_parameter_count(model);
    const results r = {2, {{"y_T", y_T, entries}, {"y_V", y_V, entries}}};
    for (sample_block block = dyn_block_first(w, n); status == DYN_OK && block.count > 0;
         block = dyn_block_next(w, n, block)) {
        void *T = dyn_block_part(w, 0, block), *V = dyn_block_part(w, entries, block);
        block.kernels->energy_regressor(model, w->memory, gravity ? gravity : model->gravity,
                                        dyn_block_pack(w, 0, q, nq, block), dyn_block_pack(w, 1, v, nv, block), T, V);
        void *out[MAX_RESULTS] = {T, V};
        status = dyn_results_store(w, out, block, &r, error);
    }
    return status;
}
