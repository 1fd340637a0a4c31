/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Factors of the joint-space inertia matrix along the branches of the tree, M = L' D L, and solutions of M x = b.
 *
 * Source: Featherstone 2005, "Efficient factorization of the joint-space inertia matrix for branched kinematic trees".
 */
#include "instance.h"

/* Computes M, factorizes it in place, and clears the entries above the diagonal, which still are those of M. */
void KERNEL(mass_factors)(const dyn_model *model, void *memory, const void *q, void *pivots, void *factors) {
    int nv = model->nv, *parent = (int *)memory;
    real *M = (real *)factors, *D = (real *)pivots;
    KERNEL(crba)(model, memory, q, M);
    KERNEL(coordinate_parents)(model, parent);
    KERNEL(factorize)(nv, parent, M);
    for (int i = 0; i < nv; i++) {
        D[i] = M[i * nv + i];
        for (int j = i + 1; j < nv; j++) {
            M[i * nv + j] = real_set(0);
        }
    }
}

void KERNEL(mass_solve)(const dyn_model *model, void *memory, const void *factors, const void *b, void *x) {
    int nv = model->nv, *parent = (int *)memory;
    for (int i = 0; i < nv; i++) {
        ((real *)x)[i] = ((const real *)b)[i];
    }
    KERNEL(coordinate_parents)(model, parent);
    KERNEL(solve)(nv, parent, (const real *)factors, real_set(1), 1, (real *)x);
}
