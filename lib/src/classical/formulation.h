/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A formulation: one file NAME.c, which ends with its row, and one line in formulations.inc. Everything else follows
 * from the row: the names, the checks, the results that the literature does not state, the memory, the counts and the
 * property test formulations, which compares all results with RNEA, CRBA and ABA.
 *
 *     const formulation KERNEL(newton_euler) = {traits, reserve, inverse, forward, mass_matrix, coefficients};
 *
 *   traits        name, source and the models that it applies to; inverse_dynamics, forward_dynamics and
 *                 mass_matrix tell which functions are not NULL.
 *                 external_forces: the functions subtract the external wrenches of m, by mechanism_subtract_external;
 *                 false: the table adds J' f to the forces of the joints, and m has none.
 *                 most_coordinates is at most 1000: Compare computes nv x nv matrices by every row.
 *   reserve       allocates all arrays that a call allocates, so that the memory of a call is known. m has no links
 *                 then.
 *   inverse, forward, mass_matrix
 *                 NULL where the literature states none; at least one is not NULL. derived.c derives the others.
 *   coefficients  evaluates the formulation and adds its inner arrays by add_block; NULL: it has none.
 *
 * A function allocates its arrays from `s` in the order of reserve, computes with operators of `real` and functions of
 * the room spatial, and branches on the model alone. It stays in the common subset of C and C++. m is placed at q; tau
 * is zero at the start; M is nv x nv, to be filled in both triangles. v and a are never NULL.
 */
#ifndef DYNAMICS_CLASSICAL_FORMULATION_H
#define DYNAMICS_CLASSICAL_FORMULATION_H

#include "classical.h"
#include "mechanism.h"

/* Inner arrays of a formulation. */
typedef struct block_list {
    int count;
    dyn_formulation_block *blocks; /* DYN_FORMULATION_MAX_BLOCKS */
} block_list;

/* Row of the table of formulations. */
typedef struct formulation {
    dyn_formulation_traits traits;
    void (*reserve)(const mechanism *m, scratch *s);
    void (*inverse)(const mechanism *m, scratch *s, const real *v, const real *a, real *tau);
    void (*forward)(const mechanism *m, scratch *s, const real *v, const real *tau, real *a);
    void (*mass_matrix)(const mechanism *m, scratch *s, real *M);
    void (*coefficients)(const mechanism *m, scratch *s, const real *v, const real *a, block_list *blocks);
} formulation;

/* Shape of a block: its extents, zero after the last one. */
typedef struct block_shape {
    int extents[DYN_FORMULATION_EXTENTS];
} block_shape;

static inline block_shape block_of(int a, int b, int c, int d) {
    block_shape shape = {{a, b, c, d}};
    return shape;
}

/* Adds an array of numbers: reals, or vectors and matrices that consist of them. `name` is that of a row of blocks.c,
 * which describes the block. */
void KERNEL(add_block)(block_list *list, const char *name, block_shape shape, const void *values);

/* Declarations of all rows, one in each file that formulations.inc lists. */
#define FORMULATION(name) extern const formulation KERNEL(name);
#include "formulations.inc"
#undef FORMULATION

#endif
