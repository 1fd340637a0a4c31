/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Forward dynamics of a model with coupled mimic joints, whose shared coordinates the articulated-body algorithm cannot
 * eliminate: (M + diag e) a = tau - h + sum J' f_ext. The composite-rigid-body algorithm computes M, and the recursive
 * Newton-Euler algorithm h.
 *
 * Source: Featherstone 2008, section 6.5.
 */
#include "instance.h"

/* Returns the number of reals in this algorithm's own part of the memory: M, h, a zero vector and the parents of the
 * coordinates. The memory of CRBA and RNEA follows. */
static size_t own_count(const dyn_model *model) {
    size_t nv = (size_t)model->nv;
    return nv * nv + 3 * nv;
}

size_t KERNEL(coupled_forward_dynamics_memory)(const dyn_model *model) {
    size_t rnea = KERNEL(rnea_memory)(model), crba = KERNEL(crba_memory)(model);
    return own_count(model) * sizeof(real) + (rnea > crba ? rnea : crba);
}

void KERNEL(coupled_forward_dynamics)(const dyn_model *model, void *memory, const packed_inputs *in,
                                      const void *diagonal, void *pivots, void *a) {
    const real *tau = (const real *)in->third;
    int nv = model->nv;
    real *M = (real *)memory, *h = M + nv * nv, *zero = h + nv, *D = (real *)pivots, *x = (real *)a;
    int *parent = (int *)(zero + nv);
    void *rest = zero + 2 * nv;
    for (int i = 0; i < nv; i++) {
        zero[i] = real_set(0);
    }
    const packed_inputs unmoved = {in->gravity, in->q, in->v, zero, in->forces};
    KERNEL(crba)(model, rest, in->q, M);
    KERNEL(rnea)(model, rest, &unmoved, h);
    for (int i = 0; diagonal && i < nv; i++) {
        M[i * nv + i] = M[i * nv + i] + ((const real *)diagonal)[i];
    }
    KERNEL(coordinate_parents)(model, parent);
    KERNEL(factorize)(nv, parent, M);
    for (int i = 0; i < nv; i++) {
        D[i] = M[i * nv + i];
        x[i] = tau[i] - h[i];
    }
    KERNEL(solve)(nv, parent, M, real_set(1), 1, x);
}

size_t KERNEL(forward_dynamics_memory)(const dyn_model *model) {
    return model->has_mimic ? KERNEL(coupled_forward_dynamics_memory)(model) : KERNEL(aba_memory)(model);
}

void KERNEL(forward_dynamics)(const dyn_model *model, void *memory, const packed_inputs *in, void *pivots, void *a) {
    KERNEL(resisted_forward_dynamics)(model, memory, in, NULL, pivots, a);
}

void KERNEL(resisted_forward_dynamics)(const dyn_model *model, void *memory, const packed_inputs *in,
                                       const void *diagonal, void *pivots, void *a) {
    if (model->has_mimic) {
        KERNEL(coupled_forward_dynamics)(model, memory, in, diagonal, pivots, a);
    } else {
        KERNEL(aba)(model, memory, in, diagonal, pivots, a);
    }
}
