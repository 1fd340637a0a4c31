/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Motion of frames, centre of mass and centroidal momentum of a model with custom joints, from those of the tree of its
 * stages (stages.h): poses, twists and accelerations are the same, and matrices that velocities are multiplied by have
 *
 *     J = J_t G        dJ/dt = dJ_t/dt G + J_t dG/dt        dG/dt: f'' v
 */
#include "scratch.h"
#include "stages.h"

/* Computes the entries of dG/dt, and zeros for the accelerations of the tree. Returns the memory behind them. */
static real *find_rates(const stage_tree *t, real **rates, real **zero) {
    *rates = (real *)t->rest;
    *zero = *rates + t->count;
    for (int k = 0; k < t->count; k++) {
        (*rates)[k] = t->curvature[k] * t->v[t->stages[k].v_index];
    }
    for (int i = 0; i < t->model.nv; i++) {
        (*zero)[i] = real_set(0);
    }
    return *zero + t->model.nv;
}

void KERNEL(staged_frame_pose)(const dyn_model *model, void *memory, const void *q, int frame, void *position,
                               void *rotation) {
    stage_tree t;
    KERNEL(find_stage_tree)(model, memory, q, NULL, NULL, &t);
    KERNEL(frame_pose)(&t.model, align_scratch(t.rest), t.q, frame, position, rotation);
}

void KERNEL(staged_frame_jacobian)(const dyn_model *model, void *memory, const void *q, int frame,
                                   dyn_reference_frame reference_frame, void *J) {
    stage_tree t;
    KERNEL(find_stage_tree)(model, memory, q, NULL, NULL, &t);
    real *J_t = (real *)t.rest;
    KERNEL(frame_jacobian)(&t.model, align_scratch(J_t + 6 * t.model.nv), t.q, frame, reference_frame, J_t);
    contract_columns(&t, 6, stage_term_of(J_t, t.slope), no_term(), no_term(), (real *)J);
}

void KERNEL(staged_frame_motion)(const dyn_model *model, void *memory, const void *q, const void *v, const void *a,
                                 int frame, dyn_reference_frame reference_frame, const frame_rates *out) {
    stage_tree t;
    real *rates, *zero;
    KERNEL(find_stage_tree)(model, memory, q, v, a, &t);
    real *J_t = find_rates(&t, &rates, &zero), *dJ_t = J_t + 6 * t.model.nv;
    void *rest = align_scratch(dJ_t + 6 * t.model.nv);
    const frame_rates of_tree = {out->twist, out->rate, dJ_t};
    KERNEL(frame_jacobian)(&t.model, rest, t.q, frame, reference_frame, J_t);
    KERNEL(frame_motion)(&t.model, rest, t.q, t.v, t.a, frame, reference_frame, &of_tree);
    contract_columns(&t, 6, stage_term_of(dJ_t, t.slope), stage_term_of(J_t, rates), no_term(), (real *)out->dJ);
}

void KERNEL(staged_center_of_mass)(const dyn_model *model, void *memory, const void *q, const void *v, const void *a,
                                   int root, void *motion_out, void *jacobian) {
    stage_tree t;
    KERNEL(find_stage_tree)(model, memory, q, v, a, &t);
    real *J_t = (real *)t.rest;
    KERNEL(center_of_mass)(&t.model, align_scratch(J_t + 3 * t.model.nv), t.q, t.v, t.a, root, motion_out, J_t);
    contract_columns(&t, 3, stage_term_of(J_t, t.slope), no_term(), no_term(), (real *)jacobian);
}

void KERNEL(staged_centroidal)(const dyn_model *model, void *memory, const void *q, const void *v, void *inertia,
                               void *A_G, void *dA_G) {
    stage_tree t;
    real *rates, *zero;
    KERNEL(find_stage_tree)(model, memory, q, v, NULL, &t);
    real *A_t = find_rates(&t, &rates, &zero), *dA_t = A_t + 6 * t.model.nv;
    KERNEL(centroidal)(&t.model, align_scratch(dA_t + 6 * t.model.nv), t.q, t.v, zero, inertia, A_t, dA_t);
    contract_columns(&t, 6, stage_term_of(A_t, t.slope), no_term(), no_term(), (real *)A_G);
    contract_columns(&t, 6, stage_term_of(dA_t, t.slope), stage_term_of(A_t, rates), no_term(), (real *)dA_G);
}

void KERNEL(staged_centroidal_momentum)(const dyn_model *model, void *memory, const void *q, const void *v,
                                        void *momentum) {
    stage_tree t;
    real *rates, *zero;
    KERNEL(find_stage_tree)(model, memory, q, v, NULL, &t);
    real *rest = find_rates(&t, &rates, &zero);
    KERNEL(centroidal_momentum)(&t.model, align_scratch(rest), t.q, t.v, zero, momentum);
}
