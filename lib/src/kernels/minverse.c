/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Computes the inverse of the joint-space inertia matrix from its factors along the branches of the tree: M = L' D L.
 *
 * Source: Featherstone 2005, "Efficient factorization of the joint-space inertia matrix for branched kinematic trees".
 */
#include "instance.h"

size_t KERNEL(minverse_memory)(const dyn_model *model) {
    size_t crba = KERNEL(crba_memory)(model), parents = (size_t)model->nv * sizeof(int);
    return crba > parents ? crba : parents;
}

void KERNEL(minverse)(const dyn_model *model, void *memory, const void *q, void *pivots, void *inverse) {
    int nv = model->nv, *parent = (int *)memory;
    real *M = (real *)inverse, *D = (real *)pivots;
    KERNEL(crba)(model, memory, q, M);
    KERNEL(coordinate_parents)(model, parent);
    KERNEL(factorize)(nv, parent, M);
    for (int i = 0; i < nv; i++) {
        D[i] = M[i * nv + i];
    }
    KERNEL(invert)(nv, parent, M);
}
