/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * First derivatives of forward dynamics, a(q, v, tau), from those of inverse dynamics at the same motion:
 *
 *     da/dq = -M^-1 dtau/dq        da/dv = -M^-1 dtau/dv        da/dtau = M^-1
 *
 * with M factorized along the branches of the tree. The acceleration follows from dtau/dv, which does not depend on it.
 * The forces that velocities cause are quadratic in v, so that
 *
 *     M a = tau - h        h = (dtau/dv) v / 2 + g - sum J' f_ext
 *
 * Source: Carpentier and Mansard 2018, section III.
 */
#include "rnea_derivatives.h"
#include "stages.h"

size_t KERNEL(aba_derivatives_memory)(const dyn_model *model) {
    return KERNEL(rnea_derivatives_memory)(model) + (size_t)model->nv * (sizeof(real) + sizeof(int));
}

/* Returns the address of the acceleration. It follows the memory of the derivatives of inverse dynamics, and the
 * parents of the coordinates follow it. */
real *KERNEL(derived_acceleration)(const dyn_model *model, void *memory) {
    return (real *)((char *)memory + KERNEL(rnea_derivatives_memory)(model));
}

void KERNEL(aba_derivatives)(const dyn_model *model, void *memory, const packed_inputs *in, void *pivots,
                             const derivative_matrices *da) {
    if (SERVES_STAGES && model->stage_count > 0) {
        KERNEL(staged_aba_derivatives)(model, memory, in, pivots, da);
        return;
    }
    real *M = (real *)da->da, *D = (real *)pivots, *x = KERNEL(derived_acceleration)(model, memory);
    const real *tau = (const real *)in->third;
    int nv = model->nv, *parent = (int *)(x + nv);
    derivative_state s = KERNEL(rnea_velocity_derivatives)(model, memory, in, da);
    KERNEL(rnea_derivatives_bias)(&s, in->forces, da, x);
    KERNEL(coordinate_parents)(model, parent);
    KERNEL(factorize)(nv, parent, M);
    for (int i = 0; i < nv; i++) {
        D[i] = M[i * nv + i];
        x[i] = tau[i] - x[i];
    }
    KERNEL(solve)(nv, parent, M, real_set(1), 1, x);
    KERNEL(rnea_position_derivatives)(&s, x, in->forces, da);
    KERNEL(solve_both)(nv, parent, M, real_set(-1), (real *)da->dq, (real *)da->dv);
    KERNEL(invert)(nv, parent, M);
}
