/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Declares the functions of the instance that is being compiled. Other rooms call the functions of the list
 * algorithms.inc through the table (table.c). All other functions are parts of several algorithms.
 */
#ifndef DYNAMICS_KERNELS_INSTANCE_H
#define DYNAMICS_KERNELS_INSTANCE_H

#include "../model/joint.h"
#include "kernels.h"
#include "step_parameters.h"

extern const kernel_table KERNEL(kernel_table);

/* Prototypes of the list, and of the functions that return the bytes of scratch memory. Several algorithms may use the
 * same scratch memory function. */
#define FUNCTION(result, name, parameters) result KERNEL(name) parameters;
#define ALGORITHM(result, name, scratch, parameters)                                                                   \
    size_t KERNEL(scratch)(const dyn_model *model);                                                                    \
    result KERNEL(name) parameters;
#include "algorithms.inc"
#undef ALGORITHM
#undef FUNCTION

/* ---- the articulated body algorithm and forward dynamics -------------------------------------------------------- */

/* Articulated body algorithm, for models without coupled mimic joints: (M + diag e) a = tau - h. `diagonal` holds e;
 * NULL stands for zeros. */
void KERNEL(aba)(const dyn_model *model, void *memory, const packed_inputs *in, const void *diagonal, void *pivots,
                 void *a);
size_t KERNEL(aba_memory)(const dyn_model *model);

/* Solves (M + diag e) a = tau - h by CRBA, RNEA and a factorization, for models with coupled mimic joints. */
void KERNEL(coupled_forward_dynamics)(const dyn_model *model, void *memory, const packed_inputs *in,
                                      const void *diagonal, void *pivots, void *a);
size_t KERNEL(coupled_forward_dynamics_memory)(const dyn_model *model);

/* Calls coupled_forward_dynamics for a model with coupled mimic joints, otherwise aba. Scratch memory:
 * forward_dynamics_memory. */
void KERNEL(resisted_forward_dynamics)(const dyn_model *model, void *memory, const packed_inputs *in,
                                       const void *diagonal, void *pivots, void *a);

/* Returns the address of the acceleration in the scratch memory of aba_derivatives. */
real *KERNEL(derived_acceleration)(const dyn_model *model, void *memory);

/* ---- linear algebra over the tree -------------------------------------------------------------------------------- */

/* Computes parent[k], the coordinate before k on the way to the root, or -1; nv entries. */
void KERNEL(coordinate_parents)(const dyn_model *model, int *parent);

/* Factorizes M = L' D L in place, n x n: D on the diagonal, L below it. */
void KERNEL(factorize)(int n, const int *parent, real *M);

/* Solves for x, n x m: x = scale M^-1 x, from the factors. */
void KERNEL(solve)(int n, const int *parent, const real *L, real scale, int m, real *x);

/* Solves as `solve` does for two n x n arrays whose entries between branches are zero. */
void KERNEL(solve_both)(int n, const int *parent, const real *L, real scale, real *x, real *y);

/* Replaces the factors by M^-1. */
void KERNEL(invert)(int n, const int *parent, real *M);

/* Block of a matrix: `rows` rows from `row` on, columns `from` to `to` - 1. */
typedef struct matrix_block {
    int row, rows, from, to;
} matrix_block;

/* M_kj = A_j . B_k for the rows k and columns j of a block of M, which has `width` columns. A and B are columns of
 * motions (motion_columns.h), `each` numbers a component. An instance of one sample stores M as unpack does and returns
 * what unpack returns; the others return true. */
int KERNEL(column_products)(const void *A, const void *B, size_t each, matrix_block block, size_t width, void *M);

/* ---- placements and wrenches ------------------------------------------------------------------------------------ */

/* Sines and cosines of the joints' angles. */
typedef struct joint_turns {
    const real *sine, *cosine;
} joint_turns;

/* Computes the sines and cosines of all joints; those of hinges include the turn of the normal form. Stores them at
 * the start of *memory and advances it. */
joint_turns KERNEL(joint_turns)(const dyn_model *model, const real *q, void **memory);

/* Computes the placement of every body in its parent at q. Stores them at the start of *memory and advances it. */
placement *KERNEL(placements)(const dyn_model *model, const real *q, void **memory);
size_t KERNEL(placements_memory)(const dyn_model *model);

/* Computes X[k], the placement of body path[k] in its parent, for `count` bodies. `angles` has 3 count numbers. */
void KERNEL(path_placements)(const dyn_model *model, const real *q, const int *path, int count, real *angles,
                             placement *X);

/* Returns one external wrench in the axes and about the origin of the body that carries its frame. X are the bodies'
 * placements in their parents. */
force KERNEL(body_wrench)(const dyn_model *model, const placement *X, wrench_frame frame, const real wrench[6]);

/* Subtracts the external wrenches from the wrenches f of the bodies. Computes all placements in `memory`. If some of
 * them are already there, they remain the same. */
void KERNEL(subtract_wrenches)(const dyn_model *model, void *memory, const real *q, const wrench_set *forces, force *f);

/* ---- joints' own forces and increments -------------------------------------------------------------------------- */

/* Computes du/dt of an increment u of a robot that moves with the velocity v. */
void KERNEL(increment_rate)(const dyn_model *model, const real *u, const real *v, real *rate);

/* Adds r(q, v), the passive joint forces, to tau. */
void KERNEL(add_resistance)(const dyn_model *model, const joint_resistance *r, const real *q, const real *v, real *tau);

/* Computes the part of the resistance that a semi-implicit step of dt needs: tau += -K v + springs, diagonal = dt K.
 * Returns false, and does not write the diagonal, if there is neither damping nor friction. */
int KERNEL(resist_implicitly)(const dyn_model *model, const joint_resistance *r, double dt, const real *q,
                              const real *v, real *tau, real *diagonal);

#endif
