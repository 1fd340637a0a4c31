/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Function of a stage of a custom joint, in any type of number.
 *
 * The piece of a function is selected without a branch on the coordinate: each piece replaces the terms of the one
 * before where the coordinate exceeds its start.
 */
#ifndef DYNAMICS_MODEL_STAGE_FUNCTION_H
#define DYNAMICS_MODEL_STAGE_FUNCTION_H

#include "normal_form.h"
#include "../spatial/real.h"

/* Computes f and its first four derivatives with respect to the coordinate q of the joint. */
static inline void stage_function(const stage *s, real q, real derivatives[5]) {
    real x = real_fma(real_set(s->ratio), q, real_set(s->offset)), ratio = real_set(s->ratio);
    real origin = real_set(s->pieces[0].origin), terms[DYN_MAX_FUNCTION_TERMS];
    for (int k = 0; k < DYN_MAX_FUNCTION_TERMS; k++) {
        terms[k] = real_set(s->pieces[0].terms[k]);
    }
    for (int i = 1; i < s->piece_count; i++) {
        const function_piece *piece = &s->pieces[i];
        real beyond = x - real_set(piece->from);
        origin = real_where_positive(beyond, real_set(piece->origin), origin);
        for (int k = 0; k < DYN_MAX_FUNCTION_TERMS; k++) {
            terms[k] = real_where_positive(beyond, real_set(piece->terms[k]), terms[k]);
        }
    }
    real u = x - origin, f = real_set(0), slope = real_set(0), half = real_set(0), sixth = real_set(0),
         last = real_set(0);
    for (int k = DYN_MAX_FUNCTION_TERMS - 1; k >= 0; k--) {
        last = real_fma(last, u, sixth);
        sixth = real_fma(sixth, u, half);
        half = real_fma(half, u, slope);
        slope = real_fma(slope, u, f);
        f = real_fma(f, u, terms[k]);
    }
    derivatives[0] = f;
    derivatives[1] = ratio * slope;
    derivatives[2] = ratio * ratio * (real_set(2) * half);
    derivatives[3] = ratio * ratio * ratio * (real_set(6) * sixth);
    derivatives[4] = ratio * ratio * (ratio * ratio) * (real_set(24) * last);
}

#endif
