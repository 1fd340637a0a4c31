/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes how far motions of models with constraints agree with them. */
#include "methods/motion_agreement.h"

Dynamics__V1__MotionAgreement *motion_agreement_write(const batch *b, const dyn_constrained_inverse_result *results) {
    const size_t n = b->n;
    Dynamics__V1__MotionAgreement *to = results ? call_allocate(b->call, 1, sizeof *to) : NULL;
    uint64_t *counts = to ? call_allocate(b->call, 2 * n, sizeof *counts) : NULL;
    double *residuals = counts ? call_allocate(b->call, n, sizeof *residuals) : NULL;
    if (!residuals) {
        return NULL;
    }
    dynamics__v1__motion_agreement__init(to);
    to->n_ranks = to->n_freedoms = to->n_residuals = n;
    to->ranks = counts, to->freedoms = counts + n, to->residuals = residuals;
    for (size_t i = 0; i < n; i++) {
        to->ranks[i] = (uint64_t)results[i].rank;
        to->freedoms[i] = (uint64_t)results[i].freedom;
        residuals[i] = results[i].residual;
    }
    batch_mark_rows(b, 1, residuals);
    return to;
}
