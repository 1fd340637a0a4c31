/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Forward dynamics with constraints: by the multipliers of their rows in one sweep (constrained_response.c), and by
 * constrained articulated bodies in time linear in bodies and rows (constrained_aba.c).
 */
#ifndef DYNAMICS_KERNELS_CONSTRAINT_KERNELS_H
#define DYNAMICS_KERNELS_CONSTRAINT_KERNELS_H

#include "kernels.h"

/* Requirements of the rows of all closures of a model: A a = c, with c = required - dA/dt v - gain A v. */
typedef struct row_requirements {
    const row_set *rows;
    double gain;          /* 2 k of the stabilization, 1/s */
    const void *required; /* m packed numbers; NULL: zeros */
    const void *diagonal; /* nv packed numbers that are added to the diagonal of M; NULL: zeros */
} row_requirements;

/* Accelerations that rows require, and the multipliers that cause them. All are packed. */
typedef struct row_multipliers {
    void *response; /* A M^-1 A', m x m: its lower triangle */
    void *missing;  /* m: c - A a_0, where a_0 is the acceleration without multipliers */
    void *factors;  /* m x m: scratch memory */
    void *shares;   /* nv x m: scratch memory, which constrained_acceleration reads */
    void *lambda;   /* m */
    void *regular;  /* one number: 2 for independent rows, 1 for consistent dependent ones, 0: lambda is not valid */
} row_multipliers;

/* Most bodies that the rows of one constraint act on: those of the two sides of a loop joint, or the two bodies that
 * each of two coordinates moves relative to each other. */
enum { CLOSURE_BODIES = 4 };

/* Couplings of the bodies of a model. Rows that tie two bodies couple their inertias. Eliminating a body couples its
 * parent and all bodies that it is coupled with (dynamics/body_couplings.h). */
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
typedef struct constraint_kernels {
    /* Returns the bytes of scratch memory of `response`. */
    size_t (*response_memory)(const dyn_model *model);

    /* Computes the response of the rows of closures, their motion without multipliers, and multipliers where the rank
     * of the response is clear: each pivot of its factors is either zero up to rounding, and the row agrees with the
     * others, or well above that. For models without coupled mimic joints and without rotors. `pivots` as in
     * forward_dynamics. `u` receives nv numbers for `accelerate`. */
    void (*respond)(const dyn_model *model, void *memory, const packed_inputs *in, const row_requirements *required,
                    void *pivots, void *u, const row_multipliers *out);

    /* Replaces u by a, for any multipliers lambda, from the memory that `respond` has left. */
    void (*accelerate)(const dyn_model *model, void *memory, const double gravity[3], const row_set *rows,
                       const row_multipliers *multipliers, void *u);

    /* Returns the bytes of memory of constrained articulated bodies. */
    size_t (*bodies_memory)(const dyn_model *model, const body_couplings *couplings, int m);

    /* Computes the first iterate of constrained articulated bodies. `pivots` as in forward_dynamics. */
    void (*begin)(const dyn_model *model, void *memory, const packed_inputs *in, const held_rows *rows, void *pivots,
                  const held_motion *out);

    /* Computes the next iterate from the contents of the memory. Lanes whose share (packed) is 0 keep their numbers; it
     * is 1 in the others. */
    void (*iterate)(const dyn_model *model, void *memory, const packed_inputs *in, const held_rows *rows,
                    const void *share, const held_motion *out);
} constraint_kernels;

extern const constraint_kernels dyn_constraint_kernels_scalar;
extern const constraint_kernels dyn_constraint_kernels_sse2, dyn_constraint_kernels_sse2_one;
extern const constraint_kernels dyn_constraint_kernels_avx2, dyn_constraint_kernels_avx2_one;
extern const constraint_kernels dyn_constraint_kernels_avx512, dyn_constraint_kernels_avx512_one;
extern const constraint_kernels dyn_constraint_kernels_neon, dyn_constraint_kernels_neon_one;

#endif
