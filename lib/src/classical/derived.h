/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * All results of a formulation: those that it states, and those that follow from them.
 */
#ifndef DYNAMICS_CLASSICAL_DERIVED_H
#define DYNAMICS_CLASSICAL_DERIVED_H

#include "formulation.h"

/* Computes tau for the motion (v, a), by the formulation itself or derived from its other results (derived.c). */
void KERNEL(derive_inverse)(const formulation *f, const mechanism *m, scratch *s, const real *v, const real *a,
                            real *tau);

/* Computes the accelerations a for the forces tau at v, by the formulation itself or derived from its other results. */
void KERNEL(derive_forward)(const formulation *f, const mechanism *m, scratch *s, const real *v, const real *tau,
                            real *a);

/* Computes M, nv x nv, by the formulation itself or derived from its other results. */
void KERNEL(derive_mass_matrix)(const formulation *f, const mechanism *m, scratch *s, real *M);

/* Allocates as much memory as the largest of the functions above and the coefficients need. */
void KERNEL(reserve_derived)(const formulation *f, const mechanism *m, scratch *s);

#endif
