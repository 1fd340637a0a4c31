/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Derivatives of a model with custom joints, by the chain rule of stages.h from those of the tree of its stages. The
 * forces tau = G' tau_t have the additional term dG'/dq tau_t: f'' tau_t, on the diagonal. The Hessian of a frame has
 * f'' J_t there.
 */
#include "scratch.h"
#include "stages.h"

/* Weights of the stages: f'' v; f'' a + f''' v^2; 2 f'' v. */
typedef struct stage_weights {
    real *rate, *acceleration, *double_rate;
} stage_weights;

/* Computes the weights at the start of the free memory, and returns the memory behind them. `a` is the acceleration of
 * the model. */
static real *find_weights(const stage_tree *t, stage_weights *w) {
    w->rate = (real *)t->rest;
    w->acceleration = w->rate + t->count;
    w->double_rate = w->acceleration + t->count;
    for (int k = 0; k < t->count; k++) {
        real v = t->v[t->stages[k].v_index], a = t->a[t->stages[k].v_index];
        w->rate[k] = t->curvature[k] * v;
        w->acceleration[k] = real_fma(t->curvature[k], a, t->third[k] * v * v);
        w->double_rate[k] = real_set(2) * w->rate[k];
    }
    return w->double_rate + t->count;
}

/* Adds f'' x of each stage to the diagonal of an nv x nv matrix; x has a number for each coordinate of the tree. */
static void add_curvature(const stage_tree *t, const real *x, real *matrix) {
    for (int k = 0; k < t->count; k++) {
        int j = t->stages[k].v_index;
        matrix[j * t->nv + j] = real_fma(t->curvature[k], x[t->nv + k], matrix[j * t->nv + j]);
    }
}

int KERNEL(staged_rnea_derivatives)(const dyn_model *model, void *memory, const packed_inputs *in,
                                    const derivative_matrices *dtau) {
    stage_tree t;
    stage_weights w;
    KERNEL(find_stage_tree)(model, memory, in->q, in->v, in->third, &t);
    int n = t.model.nv;
    real *tau_t = find_weights(&t, &w), *dq = tau_t + n, *dv = dq + n * n, *da = dv + n * n, *half = da + n * n;
    void *rest = align_scratch(half + n * n);
    const packed_inputs of_tree = {in->gravity, t.q, t.v, t.a, in->forces};
    const derivative_matrices matrices = {dq, dv, da};
    const stage_term q = stage_term_of(dq, t.slope), v = stage_term_of(dv, t.slope), a = stage_term_of(da, t.slope);
    KERNEL(rnea)(&t.model, rest, &of_tree, tau_t);
    KERNEL(rnea_derivatives)(&t.model, rest, &of_tree, &matrices);
    contract_columns(&t, n, q, stage_term_of(dv, w.rate), stage_term_of(da, w.acceleration), half);
    contract_rows(&t, (size_t)t.nv, half, (real *)dtau->dq);
    add_curvature(&t, tau_t, (real *)dtau->dq);
    contract_columns(&t, n, v, stage_term_of(da, w.double_rate), no_term(), half);
    contract_rows(&t, (size_t)t.nv, half, (real *)dtau->dv);
    contract_columns(&t, n, a, no_term(), no_term(), half);
    contract_rows(&t, (size_t)t.nv, half, (real *)dtau->da);
    return 0;
}

void KERNEL(staged_aba_derivatives)(const dyn_model *model, void *memory, const packed_inputs *in, void *pivots,
                                    const derivative_matrices *da) {
    int nv = model->nv;
    real *a = (real *)memory, *M = (real *)da->da, *D = (real *)pivots;
    int *parent = (int *)(a + nv);
    void *rest = align_scratch(a + 2 * nv);
    const packed_inputs at_a = {in->gravity, in->q, in->v, a, in->forces};
    KERNEL(forward_dynamics)(model, rest, in, pivots, a);
    KERNEL(staged_rnea_derivatives)(model, rest, &at_a, da);
    KERNEL(coordinate_parents)(model, parent);
    KERNEL(factorize)(nv, parent, M);
    for (int i = 0; i < nv; i++) {
        D[i] = M[i * nv + i];
    }
    KERNEL(solve_both)(nv, parent, M, real_set(-1), (real *)da->dq, (real *)da->dv);
    KERNEL(invert)(nv, parent, M);
}

void KERNEL(staged_gravity_derivatives)(const dyn_model *model, void *memory, const double gravity[3], const void *q,
                                        void *dg_dq) {
    stage_tree t;
    KERNEL(find_stage_tree)(model, memory, q, NULL, NULL, &t);
    int n = t.model.nv;
    real *g_t = (real *)t.rest, *dg = g_t + n, *half = dg + n * n;
    void *rest = align_scratch(half + n * n);
    KERNEL(gravity)(&t.model, rest, gravity, t.q, g_t);
    KERNEL(gravity_derivatives)(&t.model, rest, gravity, t.q, dg);
    contract_columns(&t, n, stage_term_of(dg, t.slope), no_term(), no_term(), half);
    contract_rows(&t, (size_t)t.nv, half, (real *)dg_dq);
    add_curvature(&t, g_t, (real *)dg_dq);
}

/* Contracts the derivatives of six numbers and of their rate. */
static void contract_spatial(const stage_tree *t, const stage_weights *w, const spatial_derivatives *x,
                             const spatial_derivatives *out) {
    const real *dq = (const real *)x->dq, *rate_dq = (const real *)x->rate_dq, *rate_dv = (const real *)x->rate_dv;
    const real *J = (const real *)x->matrix;
    const stage_term with_J = stage_term_of(J, t->slope), with_rate = stage_term_of(rate_dq, t->slope);
    contract_columns(t, 6, stage_term_of(dq, t->slope), stage_term_of(J, w->rate), no_term(), (real *)out->dq);
    contract_columns(t, 6, with_rate, stage_term_of(rate_dv, w->rate), stage_term_of(J, w->acceleration),
                     (real *)out->rate_dq);
    contract_columns(t, 6, stage_term_of(rate_dv, t->slope), stage_term_of(J, w->double_rate), no_term(),
                     (real *)out->rate_dv);
    contract_columns(t, 6, with_J, no_term(), no_term(), (real *)out->matrix);
}

void KERNEL(staged_frame_derivatives)(const dyn_model *model, void *memory, const void *q, const void *v, const void *a,
                                      int frame, dyn_reference_frame reference_frame, const spatial_derivatives *out) {
    stage_tree t;
    stage_weights w;
    KERNEL(find_stage_tree)(model, memory, q, v, a, &t);
    int size = 6 * t.model.nv;
    real *x = find_weights(&t, &w);
    const spatial_derivatives of_tree = {x, x + size, x + 2 * size, x + 3 * size};
    KERNEL(frame_derivatives)(&t.model, align_scratch(x + 4 * size), t.q, t.v, t.a, frame, reference_frame, &of_tree);
    contract_spatial(&t, &w, &of_tree, out);
}

void KERNEL(staged_centroidal_derivatives)(const dyn_model *model, void *memory, const void *q, const void *v,
                                           const void *a, const spatial_derivatives *out) {
    stage_tree t;
    stage_weights w;
    KERNEL(find_stage_tree)(model, memory, q, v, a, &t);
    int size = 6 * t.model.nv;
    real *x = find_weights(&t, &w);
    const spatial_derivatives of_tree = {x, x + size, x + 2 * size, x + 3 * size};
    KERNEL(centroidal_derivatives)(&t.model, align_scratch(x + 4 * size), t.q, t.v, t.a, &of_tree);
    contract_spatial(&t, &w, &of_tree, out);
}

void KERNEL(staged_frame_hessian)(const dyn_model *model, void *memory, const void *q, int frame,
                                  dyn_reference_frame reference_frame, void *hessian) {
    stage_tree t;
    KERNEL(find_stage_tree)(model, memory, q, NULL, NULL, &t);
    int n = t.model.nv, nv = t.nv;
    real *J_t = (real *)t.rest, *half = J_t + 6 * n, *H_t = half + n * nv, *H = (real *)hessian;
    void *rest = align_scratch(H_t + 6 * n * n);
    KERNEL(frame_jacobian)(&t.model, rest, t.q, frame, reference_frame, J_t);
    KERNEL(frame_hessian)(&t.model, rest, t.q, frame, reference_frame, H_t);
    for (int row = 0; row < 6; row++, H += nv * nv) {
        contract_columns(&t, n, stage_term_of(H_t + row * n * n, t.slope), no_term(), no_term(), half);
        contract_rows(&t, (size_t)nv, half, H);
        add_curvature(&t, J_t + row * n, H);
    }
}

/* Computes the increments of the coordinates, velocities and accelerations of the tree. */
static void carry_increments(const stage_tree *t, const stage_weights *w, const packed_increments *along, real *dq,
                             real *dv, real *da) {
    const real *of_q = (const real *)along->dq, *of_v = (const real *)along->dv, *of_a = (const real *)along->dthird;
    for (int i = 0; i < t->nv; i++) {
        dq[i] = of_q[i], dv[i] = of_v[i], da[i] = of_a[i];
    }
    for (int k = 0; k < t->count; k++) {
        int j = t->stages[k].v_index, to = t->nv + k;
        dq[to] = t->slope[k] * of_q[j];
        dv[to] = real_fma(t->slope[k], of_v[j], w->rate[k] * of_q[j]);
        da[to] = real_fma(t->slope[k], of_a[j], w->double_rate[k] * of_v[j]);
        da[to] = real_fma(w->acceleration[k], of_q[j], da[to]);
    }
}

void KERNEL(staged_rnea_directional)(const dyn_model *model, void *memory, const packed_inputs *in,
                                     const packed_increments *along, void *dtau) {
    stage_tree t;
    stage_weights w;
    KERNEL(find_stage_tree)(model, memory, in->q, in->v, in->third, &t);
    int n = t.model.nv;
    real *tau_t = find_weights(&t, &w), *dtau_t = tau_t + n, *dq = dtau_t + n, *dv = dq + n, *da = dv + n;
    const real *increment = (const real *)along->dq;
    real *out = (real *)dtau;
    const packed_inputs of_tree = {in->gravity, t.q, t.v, t.a, in->forces};
    const packed_increments along_tree = {dq, dv, da};
    carry_increments(&t, &w, along, dq, dv, da);
    void *rest = align_scratch(da + n);
    KERNEL(rnea)(&t.model, rest, &of_tree, tau_t);
    KERNEL(rnea_directional)(&t.model, rest, &of_tree, &along_tree, dtau_t);
    contract_rows(&t, 1, dtau_t, out);
    for (int k = 0; k < t.count; k++) {
        int j = t.stages[k].v_index;
        out[j] = real_fma(t.curvature[k] * increment[j], tau_t[t.nv + k], out[j]);
    }
}
