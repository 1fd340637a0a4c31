/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Second derivatives of the inverse dynamics of a model with custom joints, tau = G' tau_t (stages.h). Let j be the
 * coordinate of the joint of stage k, and subscripts denote derivatives. Besides the second derivatives of the tree
 * (rnea_second_derivatives.c), those of the functions contribute column k of the derivatives of tau_t,
 *
 *     d2 tau / dq_j dq_j   has   G' (tau_t,q f'' + tau_t,v f''' v + tau_t,a (f''' a + f'''' v^2))
 *     d2 tau / dv_j dv_j   has   G' tau_t,a 2 f''
 *     d2 tau / dq_j dv_j   has   G' (tau_t,v f'' + tau_t,a 2 f''' v)
 *     d2 tau / da_j dq_j   has   G' tau_t,a f''
 *
 * and the derivative of G' contributes, for each variable x,
 *
 *     d2 tau_j / dq_j dx   has   f'' (d tau_t / dx)_k        d2 tau_j / dq_j dq_j   has   f''' tau_t,k
 */
#include "scratch.h"
#include "stages.h"

/* The tree at a state, its forces with their derivatives, and the results. */
typedef struct stage_terms {
    stage_tree t;
    stage_shares shares;
    real *tau, *dq, *dv, *da;
    real *qq, *vv, *qv, *Mq;
    int n; /* coordinates of the tree */
} stage_terms;

/* Returns entry (i, j, k) of a result. */
static real *entry(const stage_terms *s, real *result, int i, int j, int k) {
    return &result[((size_t)i * (size_t)s->t.nv + (size_t)j) * (size_t)s->t.nv + (size_t)k];
}

/* Computes the shares of all coordinates of the tree at the start of the free memory. Returns the memory behind them.
 */
static real *find_shares(stage_terms *s) {
    const stage_tree *t = &s->t;
    real *slope = (real *)t->rest, *rate = slope + s->n, *acceleration = rate + s->n;
    int *owner = (int *)(acceleration + s->n);
    for (int i = 0; i < t->nv; i++) {
        owner[i] = i;
        slope[i] = real_set(1);
        rate[i] = acceleration[i] = real_set(0);
    }
    for (int k = 0; k < t->count; k++) {
        int to = t->nv + k, j = t->stages[k].v_index;
        real v = t->v[j];
        owner[to] = j;
        slope[to] = t->slope[k];
        rate[to] = t->curvature[k] * v;
        acceleration[to] = real_fma(t->curvature[k], t->a[j], t->third[k] * v * v);
    }
    s->shares.owner = owner;
    s->shares.slope = slope, s->shares.rate = rate, s->shares.acceleration = acceleration;
    return acceleration + 2 * s->n;
}

/* Adds the terms from the second derivatives of the function of stage k. */
static void add_columns(const stage_terms *s, int k) {
    const stage_tree *t = &s->t;
    int j = t->stages[k].v_index;
    real v = t->v[j], curvature = t->curvature[k], twist = t->third[k] * v;
    real turn = real_fma(t->third[k], t->a[j], t->fourth[k] * v * v);
    for (int r = 0; r < s->n; r++) {
        size_t at = (size_t)r * (size_t)s->n + (size_t)(t->nv + k);
        int row = s->shares.owner[r];
        real slope = s->shares.slope[r], q = slope * s->dq[at], rate = slope * s->dv[at], a = slope * s->da[at];
        *entry(s, s->qq, row, j, j) += real_fma(q, curvature, real_fma(rate, twist, a * turn));
        *entry(s, s->vv, row, j, j) += real_set(2) * curvature * a;
        *entry(s, s->qv, row, j, j) += real_fma(rate, curvature, real_set(2) * twist * a);
        *entry(s, s->Mq, row, j, j) += curvature * a;
    }
}

/* Adds the terms of stage k from the derivative of G'. */
static void add_row(const stage_terms *s, int k) {
    const stage_tree *t = &s->t;
    const stage_shares *x = &s->shares;
    int j = t->stages[k].v_index;
    size_t row = (size_t)(t->nv + k) * (size_t)s->n;
    real curvature = t->curvature[k];
    for (int c = 0; c < s->n; c++) {
        int at = x->owner[c];
        real dq = s->dq[row + (size_t)c], dv = s->dv[row + (size_t)c], da = s->da[row + (size_t)c];
        real q = real_fma(dq, x->slope[c], real_fma(dv, x->rate[c], da * x->acceleration[c]));
        *entry(s, s->qq, j, j, at) += curvature * q;
        *entry(s, s->qq, j, at, j) += curvature * q;
        *entry(s, s->qv, j, j, at) += curvature * real_fma(dv, x->slope[c], real_set(2) * da * x->rate[c]);
        *entry(s, s->Mq, j, at, j) += curvature * da * x->slope[c];
    }
    *entry(s, s->qq, j, j, j) += t->third[k] * s->tau[t->nv + k];
}

void KERNEL(staged_rnea_second_derivatives)(const dyn_model *model, void *memory, const packed_inputs *in,
                                            const derivative_cubes *out) {
    stage_terms s;
    KERNEL(find_stage_tree)(model, memory, in->q, in->v, in->third, &s.t);
    s.n = s.t.model.nv;
    s.tau = find_shares(&s);
    s.dq = s.tau + s.n, s.dv = s.dq + s.n * s.n, s.da = s.dv + s.n * s.n;
    s.qq = (real *)out->dqdq, s.vv = (real *)out->dvdv, s.qv = (real *)out->dqdv, s.Mq = (real *)out->dMdq;
    void *rest = align_scratch(s.da + s.n * s.n);
    const packed_inputs of_tree = {in->gravity, s.t.q, s.t.v, s.t.a, NULL};
    const derivative_matrices matrices = {s.dq, s.dv, s.da};
    KERNEL(rnea)(&s.t.model, rest, &of_tree, s.tau);
    KERNEL(rnea_derivatives)(&s.t.model, rest, &of_tree, &matrices);
    KERNEL(add_second_derivatives)(&s.t.model, rest, &of_tree, &s.shares, s.t.nv, out);
    for (int k = 0; k < s.t.count; k++) {
        add_columns(&s, k);
        add_row(&s, k);
    }
}
