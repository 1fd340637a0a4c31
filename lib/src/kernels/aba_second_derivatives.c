/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Computes the first and the second derivatives of forward dynamics, a(q, v, tau).
 *
 * With tau = M a + h held constant along a(q, v, tau), and subscripts for derivatives,
 *
 *     a_qq(j, k)   = -M^-1 (tau_qq(j, k) + dM/dq_k a_q(j) + dM/dq_j a_q(k))
 *     a_vv(j, k)   = -M^-1 tau_vv(j, k)
 *     a_qv(j, k)   = -M^-1 (tau_qv(j, k) + dM/dq_j a_v(k))
 *     a_tauq(j, k) = -M^-1 dM/dq_k M^-1(j)
 *
 * where (j, k) stands for the derivative along j and then along k, a column of nv numbers.
 *
 * Source: Singh, Russell and Wensing 2023, section V.
 */
#include "scratch.h"
#include "stages.h"

/* Returns the bytes of scratch memory that aba_derivatives and rnea_second_derivatives share, in whole reals. The
 * acceleration and one column follow it. */
static size_t shared_memory(const dyn_model *model) {
    size_t first = KERNEL(aba_derivatives_memory)(model), second = KERNEL(rnea_second_derivatives_memory)(model);
    size_t larger = first > second ? first : second;
    return (larger + sizeof(real) - 1) / sizeof(real) * sizeof(real);
}

size_t KERNEL(aba_second_derivatives_memory)(const dyn_model *model) {
    return shared_memory(model) + 2 * (size_t)model->nv * sizeof(real);
}

/* Adds the products with dM/dq to row i of the sums in brackets: qq of a_qq, qv of a_qv. Mq(l, k) = dM_il / dq_k. */
static void add_products(int nv, const real *Mq, const real *a_q, const real *a_v, real *qq, real *qv) {
    for (int l = 0; l < nv; l++) {
        for (int j = 0; j < nv; j++) {
            for (int k = 0; k < nv; k++) {
                real along_j = real_fma(Mq[l * nv + j], a_q[l * nv + k], qq[j * nv + k]);
                qq[j * nv + k] = real_fma(Mq[l * nv + k], a_q[l * nv + j], along_j);
                qv[j * nv + k] = real_fma(Mq[l * nv + j], a_v[l * nv + k], qv[j * nv + k]);
            }
        }
    }
}

/* x = scale A x for the column x[0], x[stride], ... and a symmetric A. `copy` has nv numbers. */
static void multiply_column(int nv, real scale, const real *A, size_t stride, real *x, real *copy) {
    for (int i = 0; i < nv; i++) {
        copy[i] = scale * x[(size_t)i * stride];
    }
    for (int i = 0; i < nv; i++) {
        real sum = real_set(0);
        for (int l = 0; l < nv; l++) {
            sum = real_fma(A[i * nv + l], copy[l], sum);
        }
        x[(size_t)i * stride] = sum;
    }
}

/* Computes the acceleration, which aba_derivatives leaves in the memory of a model without custom joints. */
static void find_acceleration(const dyn_model *model, void *memory, const packed_inputs *in, void *pivots, real *a) {
    if (SERVES_STAGES && model->stage_count > 0) {
        KERNEL(forward_dynamics)(model, memory, in, pivots, a);
        return;
    }
    const real *found = KERNEL(derived_acceleration)(model, memory);
    for (int i = 0; i < model->nv; i++) {
        a[i] = found[i];
    }
}

void KERNEL(aba_second_derivatives)(const dyn_model *model, void *memory, const packed_inputs *in, void *pivots,
                                    const derivative_matrices *first, const derivative_cubes *second) {
    int nv = model->nv;
    bool has_stages = SERVES_STAGES && model->stage_count > 0;
    size_t matrix = (size_t)nv * (size_t)nv;
    real *a = (real *)((char *)memory + (has_stages ? 0 : shared_memory(model))), *copy = a + nv;
    const real *inverse = (const real *)first->da;
    memory = has_stages ? align_scratch(copy + nv) : memory;
    real *results[4] = {(real *)second->dqdq, (real *)second->dvdv, (real *)second->dqdv, (real *)second->dMdq};
    const packed_inputs forward = {in->gravity, in->q, in->v, in->third, NULL};
    const packed_inputs inverse_at_a = {in->gravity, in->q, in->v, a, NULL};
    KERNEL(aba_derivatives)(model, memory, &forward, pivots, first);
    find_acceleration(model, memory, &forward, pivots, a);
    KERNEL(rnea_second_derivatives)(model, memory, &inverse_at_a, second);
    for (size_t i = 0; i < (size_t)nv; i++) {
        real *Mq = results[3] + i * matrix;
        add_products(nv, Mq, (const real *)first->dq, (const real *)first->dv, results[0] + i * matrix,
                     results[2] + i * matrix);
        for (int k = 0; k < nv; k++) {
            multiply_column(nv, real_set(1), inverse, (size_t)nv, Mq + k, copy);
        }
    }
    for (int r = 0; r < 4; r++) {
        for (size_t c = 0; c < matrix; c++) {
            multiply_column(nv, real_set(-1), inverse, matrix, results[r] + c, copy);
        }
    }
}
