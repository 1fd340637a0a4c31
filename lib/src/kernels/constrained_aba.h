/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Constrained articulated bodies: forward dynamics with constraints in time linear in bodies and rows
 * (constrained_aba.c).
 *
 * Rows that tie two bodies couple their inertias. Eliminating a body couples its parent and all bodies that it is
 * coupled with. Which bodies are coupled depends on the model only (dynamics/body_couplings.h).
 */
#ifndef DYNAMICS_KERNELS_CONSTRAINED_ABA_H
#define DYNAMICS_KERNELS_CONSTRAINED_ABA_H

#include "kernels.h"

/* Most bodies that the rows of one constraint act on: those of the two sides of a loop joint, or the two bodies that
 * each of two coordinates moves relative to each other. */
enum { CLOSURE_BODIES = 4 };

/* Couplings of the bodies of a model. */
typedef struct body_couplings {
    int count;                     /* of couplings */
    int *first;                    /* body_count + 1: couplings first[i] .. first[i + 1] - 1 are those of body i */
    int *with;                     /* count: the other body, which precedes i */
    int (*bodies)[CLOSURE_BODIES]; /* of each constraint; -1: none */
} body_couplings;

/* Problem that all samples of a block share. */
typedef struct held_rows {
    const body_couplings *couplings;
    int m;
    double penalty;     /* 1/mu of the proximal iteration */
    double gain;        /* 2 k of the stabilization, 1/s */
    const void *errors; /* k^2 e, m packed numbers; NULL: zeros */
} held_rows;

/* Solution, packed: accelerations (nv) and their last increments (nv), multipliers (m), c - A a (m), and the sizes of
 * the terms of A a and c (m). */
typedef struct held_motion {
    void *a, *steps, *lambda, *missing, *sizes;
} held_motion;

/* Functions of one instance. */
typedef struct constrained_aba_functions {
    /* Returns the bytes of scratch memory. */
    size_t (*memory)(const dyn_model *model, const body_couplings *couplings, int m);

    /* Computes the first iterate. `pivots` as in forward_dynamics. */
    void (*begin)(const dyn_model *model, void *memory, const packed_inputs *in, const held_rows *rows, void *pivots,
                  const held_motion *out);

    /* Computes the next iterate from the contents of the memory. Lanes whose share (packed) is 0 keep their numbers; it
     * is 1 in the others. */
    void (*iterate)(const dyn_model *model, void *memory, const packed_inputs *in, const held_rows *rows,
                    const void *share, const held_motion *out);
} constrained_aba_functions;

extern const constrained_aba_functions dyn_constrained_aba_scalar;
extern const constrained_aba_functions dyn_constrained_aba_sse2, dyn_constrained_aba_sse2_one;
extern const constrained_aba_functions dyn_constrained_aba_avx2, dyn_constrained_aba_avx2_one;
extern const constrained_aba_functions dyn_constrained_aba_avx512, dyn_constrained_aba_avx512_one;
extern const constrained_aba_functions dyn_constrained_aba_neon, dyn_constrained_aba_neon_one;

#endif
