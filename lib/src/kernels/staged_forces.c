/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Forces, matrices and energies of a model with custom joints, from those of the tree of its stages (stages.h):
 *
 *     tau = G' tau_t        g = G' g_t        M = G' M_t G        C = G' (C_t G + M_t dG/dt)        Y = G' Y_t
 *
 * With this C, C v = h - g, and dM/dt = C + C' follows from that of the tree.
 */
#include "scratch.h"
#include "stages.h"

void KERNEL(staged_rnea)(const dyn_model *model, void *memory, const packed_inputs *in, void *tau) {
    stage_tree t;
    KERNEL(find_stage_tree)(model, memory, in->q, in->v, in->third, &t);
    const packed_inputs of_tree = {in->gravity, t.q, t.v, t.a, in->forces};
    real *tau_t = (real *)t.rest;
    KERNEL(rnea)(&t.model, align_scratch(tau_t + t.model.nv), &of_tree, tau_t);
    contract_rows(&t, 1, tau_t, (real *)tau);
}

void KERNEL(staged_joint_wrenches)(const dyn_model *model, void *memory, const packed_inputs *in, void *wrenches) {
    stage_tree t;
    KERNEL(find_stage_tree)(model, memory, in->q, in->v, in->third, &t);
    const packed_inputs of_tree = {in->gravity, t.q, t.v, t.a, in->forces};
    KERNEL(joint_wrenches)(&t.model, align_scratch(t.rest), &of_tree, wrenches);
}

void KERNEL(staged_gravity)(const dyn_model *model, void *memory, const double gravity[3], const void *q, void *g) {
    stage_tree t;
    KERNEL(find_stage_tree)(model, memory, q, NULL, NULL, &t);
    real *g_t = (real *)t.rest;
    KERNEL(gravity)(&t.model, align_scratch(g_t + t.model.nv), gravity, t.q, g_t);
    contract_rows(&t, 1, g_t, (real *)g);
}

/* Copies the entries below the diagonal to those above it, which have other rounding errors. */
static void mirror(int nv, real *M) {
    for (int i = 0; i < nv; i++) {
        for (int j = 0; j < i; j++) {
            M[j * nv + i] = M[i * nv + j];
        }
    }
}

void KERNEL(staged_crba)(const dyn_model *model, void *memory, const void *q, void *M) {
    stage_tree t;
    KERNEL(find_stage_tree)(model, memory, q, NULL, NULL, &t);
    int n = t.model.nv;
    real *M_t = (real *)t.rest, *half = M_t + n * n;
    KERNEL(crba)(&t.model, align_scratch(half + n * n), t.q, M_t);
    contract_columns(&t, n, stage_term_of(M_t, t.slope), no_term(), no_term(), half);
    contract_rows(&t, (size_t)t.nv, half, (real *)M);
    mirror(t.nv, (real *)M);
}

/* Computes the entries of dG/dt, f'' v. */
static void slope_rates(const stage_tree *t, real *rates) {
    for (int k = 0; k < t->count; k++) {
        rates[k] = t->curvature[k] * t->v[t->stages[k].v_index];
    }
}

void KERNEL(staged_coriolis)(const dyn_model *model, void *memory, const void *q, const void *v, void *C) {
    stage_tree t;
    KERNEL(find_stage_tree)(model, memory, q, v, NULL, &t);
    int n = t.model.nv;
    real *rates = (real *)t.rest, *C_t = rates + t.count, *M_t = C_t + n * n, *half = M_t + n * n;
    void *rest = align_scratch(half + n * n);
    slope_rates(&t, rates);
    KERNEL(coriolis)(&t.model, rest, t.q, t.v, C_t);
    KERNEL(crba)(&t.model, rest, t.q, M_t);
    contract_columns(&t, n, stage_term_of(C_t, t.slope), stage_term_of(M_t, rates), no_term(), half);
    contract_rows(&t, (size_t)t.nv, half, (real *)C);
}

void KERNEL(staged_regressor)(const dyn_model *model, void *memory, const packed_inputs *in, void *Y) {
    stage_tree t;
    KERNEL(find_stage_tree)(model, memory, in->q, in->v, in->third, &t);
    const packed_inputs of_tree = {in->gravity, t.q, t.v, t.a, NULL};
    size_t width = 10 * (size_t)model->joint_count;
    real *Y_t = (real *)t.rest;
    KERNEL(regressor)(&t.model, align_scratch(Y_t + (size_t)t.model.nv * width), &of_tree, Y_t);
    contract_rows(&t, width, Y_t, (real *)Y);
}

void KERNEL(staged_energy)(const dyn_model *model, void *memory, const double gravity[3], const void *q, const void *v,
                           void *energies) {
    stage_tree t;
    KERNEL(find_stage_tree)(model, memory, q, v, NULL, &t);
    KERNEL(energy)(&t.model, align_scratch(t.rest), gravity, t.q, t.v, energies);
}

void KERNEL(staged_energy_regressor)(const dyn_model *model, void *memory, const double gravity[3], const void *q,
                                     const void *v, void *kinetic, void *potential) {
    stage_tree t;
    KERNEL(find_stage_tree)(model, memory, q, v, NULL, &t);
    KERNEL(energy_regressor)(&t.model, align_scratch(t.rest), gravity, t.q, t.v, kinetic, potential);
}
