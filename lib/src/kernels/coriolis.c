/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Coriolis matrix C(q, v) of the Christoffel symbols: C v = h - g, and dM/dt = C + C'.
 *
 *     B(I, v) = (v x* I - I v x + (I v) x~*) / 2        where (f x~*) m = m x* f
 * With composites I_c and B_c, and columns S_j with their rates dS_j/dt = v_j x S_j, for j and every i above it:
 *     F_1 = I_c dS_j/dt + B_c S_j        F_2 = I_c S_j        F_3 = B_c' S_j
 *     C_ij = S_i' F_1                    C_ji = dS_i/dt' F_2 + S_i' F_3
 *
 * These forces are those of the derivatives of inverse dynamics (rnea_derivatives.c), with those of rotors, except that
 * d tau / dv contains Psi_dot_j + dS_j/dt, with Psi_dot_j = v_parent x S_j, where 2 C contains 2 dS_j/dt. The two terms
 * differ for joints of several coordinates only. So the passes of the derivatives compute C at half of the velocity:
 * d tau / dv is linear in v.
 *
 * Source: Echeandia and Wensing 2021, algorithm 1.
 */
#include "rnea_derivatives.h"
#include "scratch.h"
#include "stages.h"

/* Returns the bytes of v / 2, of a matrix and of the passes of the derivatives. */
size_t KERNEL(coriolis_memory)(const dyn_model *model) {
    size_t nv = (size_t)model->nv;
    return (nv + nv * nv) * sizeof(real) + SCRATCH_ALIGNMENT + KERNEL(rnea_derivatives_memory)(model);
}

void KERNEL(coriolis)(const dyn_model *model, void *memory, const void *q, const void *v, void *C) {
    if (SERVES_STAGES && model->stage_count > 0) {
        KERNEL(staged_coriolis)(model, memory, q, v, C);
        return;
    }
    static const double no_gravity[3] = {0, 0, 0};
    real *M = (real *)memory, *half = M + model->nv * model->nv;
    for (int i = 0; i < model->nv; i++) {
        half[i] = real_set(0.5) * ((const real *)v)[i];
    }
    const packed_inputs in = {no_gravity, q, half, NULL, NULL};
    const derivative_matrices d = {NULL, C, M};
    KERNEL(rnea_symbols)(model, align_scratch(half + model->nv), &in, &d);
}
