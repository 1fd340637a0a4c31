/* SPDX-License-Identifier: BSD-2-Clause */
#include <dynamics/center_of_mass.h>

#include "../model/error.h"
#include "../model/normal_form.h"
#include "arguments.h"
#include "results.h"
#include "workspace.h"

/* The first body that a joint moves; -1 for joint -1, which stands for the whole robot. */
static int first_body(const dyn_model *model, int joint) {
    for (int i = 0; i < model->body_count; i++) {
        if (model->bodies[i].joint == joint) {
            return i;
        }
    }
    return -1;
}

/* Bodies are in depth-first order: a subtree ends where one hangs above its root. */
static double subtree_mass(const dyn_model *model, int root) {
    double mass = root < 0 ? 0 : model->bodies[root].mass;
    for (int i = root + 1; i < model->body_count && (root < 0 || model->bodies[i].parent >= root); i++) {
        mass += model->bodies[i].mass;
    }
    return mass;
}

static dyn_status check_arguments(const dyn_model *model, const dyn_workspace *w, size_t n, const double *q,
                                  const double *v, const double *a, int joint, dyn_error *error) {
    dyn_status status = dyn_check_dynamics(model, w, n, NULL, q, v, "a", a, NULL, error);
    if (status != DYN_OK) {
        return status;
    }
    if (joint < -1 || joint >= model->joint_count) {
        return dyn_error_because(error, DYN_NOT_FOUND, DYN_CAUSE_JOINT, "joint",
                                 "there is no joint %d; the model has %d", joint, model->joint_count);
    }
    if (!(subtree_mass(model, first_body(model, joint)) > 0)) {
        return dyn_error_because(error, DYN_FAILED_PRECONDITION, DYN_CAUSE_NO_MASS, "model",
                                 "the links have no mass, and so no centre of mass; give them one");
    }
    return DYN_OK;
}

dyn_status dyn_center_of_mass(const dyn_model *model, dyn_workspace *workspace, size_t n, const double *q,
                              const double *v, const double *a, int joint, dyn_error *error, double *position,
                              double *velocity, double *acceleration, double *jacobian) {
    const dyn_workspace *w = workspace;
    dyn_status status = check_arguments(model, w, n, q, v, a, joint, error);
    if (status != DYN_OK) {
        return status;
    }
    size_t nq = (size_t)model->nq, nv = (size_t)model->nv;
    int root = first_body(model, joint);
    const results r = {4,
                       {{"position", position, 3},
                        {"velocity", velocity, 3},
                        {"acceleration", acceleration, 3},
                        {"jacobian", jacobian, 3 * nv}}};
    for (sample_block block = dyn_block_first(w, n); status == DYN_OK && block.count > 0;
         block = dyn_block_next(w, n, block)) {
        void *motion = dyn_block_part(w, 0, block), *J = dyn_block_part(w, 9, block);
        block.kernels->center_of_mass(model, w->memory, dyn_block_pack(w, 0, q, nq, block),
                                      dyn_block_pack(w, 1, v, nv, block), dyn_block_pack(w, 2, a, nv, block), root,
                                      motion, J);
        void *out[MAX_RESULTS] = {motion, dyn_block_part(w, 3, block), dyn_block_part(w, 6, block), J};
        status = dyn_results_store(w, out, block, &r, error);
    }
    return status;
}
