/* SPDX-License-Identifier: BSD-2-Clause */
#include <dynamics/center_of_mass.h>

#include <string.h>

#include <dynamics/kinematics.h>

#include "../model/error.h"
#include "../model/normal_form.h"
#include "../model/placement.h"
#include "arguments.h"
#include "results.h"
#include "workspace.h"

/* Returns the first body that a joint moves; -1 for joint -1, which stands for the whole robot. */
static int first_body(const dyn_model *model, int joint) {
    for (int i = 0; i < model->body_count; i++) {
        if (model->bodies[i].joint == joint) {
            return i;
        }
    }
    return -1;
}

/* Returns the mass of a subtree. Bodies are in depth-first order: a subtree ends at a body whose parent precedes its
 * root. */
static double subtree_mass(const dyn_model *model, int root) {
    double mass = root < 0 ? 0 : model->bodies[root].mass;
    for (int i = root + 1; i < model->body_count && (root < 0 || model->bodies[i].parent >= root); i++) {
        mass += model->bodies[i].mass;
    }
    return mass;
}

static dyn_status check_arguments(const dyn_model *model, const dyn_workspace *w, size_t n, const double *q,
                                  const double *v, const double *a, int joint, dyn_error *error) {
    dyn_status status = dyn_check_inputs(model, w, n, &(dynamics_inputs){NULL, q, v, "a", a, NULL}, error);
    if (status != DYN_OK) {
        return status;
    }
    if (joint < -1 || joint >= model->joint_count) {
        return dyn_error_because(error, DYN_NOT_FOUND, DYN_CAUSE_JOINT, "joint",
                                 "there is no joint %d; the model has %d", joint, model->joint_count);
    }
    if (!(subtree_mass(model, first_body(model, joint)) > 0)) {
        return dyn_error_because(error, DYN_FAILED_PRECONDITION, DYN_CAUSE_NO_MASS, "model",
                                 "the links have no mass, and so no centre of mass; set the mass of one link or more");
    }
    return DYN_OK;
}

dyn_status dyn_center_of_mass(const dyn_model *model, dyn_workspace *workspace, size_t n, const double *q,
                              const double *v, const double *a, int joint, double *position, double *velocity,
                              double *acceleration, double *jacobian, dyn_error *error) {
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

/* Returns the mass properties of the body that carries a frame, about the origin and along the axes of the frame. */
static mass_properties properties_in_frame(const dyn_model *model, const body_frame *frame) {
    const body *b = &model->bodies[frame->body];
    mass_properties own = {.mass = b->mass};
    memcpy(own.first_moment, b->first_moment, sizeof own.first_moment);
    memcpy(own.inertia, b->inertia, sizeof own.inertia);
    dyn_pose body_in_frame;
    double back[3];
    rotation_transpose(frame->pose.rotation, body_in_frame.rotation);
    rotation_apply(body_in_frame.rotation, frame->pose.position, back);
    for (int i = 0; i < 3; i++) {
        body_in_frame.position[i] = -back[i];
    }
    return mass_properties_move(&body_in_frame, &own);
}

/* Fills the 6 x 6 spatial inertia (I [h]; [h]' m 1) of mass properties, row-major. */
static void fill_spatial_inertia(const mass_properties *of, double matrix[36]) {
    static const int symmetric[9] = {0, 1, 2, 1, 3, 4, 2, 4, 5};
    const double *h = of->first_moment, cross[9] = {0, -h[2], h[1], h[2], 0, -h[0], -h[1], h[0], 0};
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            matrix[6 * i + j] = of->inertia[symmetric[3 * i + j]];
            matrix[6 * i + j + 3] = cross[3 * i + j];
            matrix[6 * (i + 3) + j] = cross[3 * j + i];
            matrix[6 * (i + 3) + j + 3] = i == j ? of->mass : 0;
        }
    }
}

dyn_status dyn_body_inertia(const dyn_model *model, dyn_workspace *workspace, size_t n, const double *q, int frame,
                            dyn_reference_frame reference_frame, double *inertia, dyn_error *error) {
    dyn_status status = dyn_check_state(model, workspace, n, NULL, q, NULL, error);
    if (status == DYN_OK) {
        status = dyn_check_frame(model, frame, error);
    }
    if (status == DYN_OK && (frame == DYN_WORLD_FRAME || model->frames[frame].body < 0)) {
        status = dyn_error_set(error, DYN_FAILED_PRECONDITION, "frame",
                               "frame %s is fixed to the world, and no moving body carries it; name a link that moves",
                               frame == DYN_WORLD_FRAME ? "world" : model->links[frame].name);
    }
    if (status != DYN_OK) {
        return status;
    }
    const mass_properties local = properties_in_frame(model, &model->frames[frame]);
    dyn_pose place = identity_pose;
    for (size_t s = 0; s < n && status == DYN_OK; s++) {
        if (reference_frame != DYN_REFERENCE_FRAME_LOCAL) {
            status = dyn_frame_pose(model, workspace, 1, q + s * (size_t)model->nq, frame,
                                    reference_frame == DYN_REFERENCE_FRAME_WORLD ? place.position : NULL,
                                    place.rotation, error);
        }
        const mass_properties placed = mass_properties_move(&place, &local);
        fill_spatial_inertia(&placed, inertia + 36 * s);
    }
    return status;
}
