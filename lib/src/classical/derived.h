/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * All results of a formulation: those that it states, and those that follow from them.
 */
#ifndef DYNAMICS_CLASSICAL_DERIVED_H
#define DYNAMICS_CLASSICAL_DERIVED_H

#include "formulation.h"

void KERNEL(derive_inverse)(const formulation *f, const mechanism *m, scratch *s, const real *v, const real *a,
                            real *tau);
void KERNEL(derive_forward)(const formulation *f, const mechanism *m, scratch *s, const real *v, const real *tau,
                            real *a);
void KERNEL(derive_mass_matrix)(const formulation *f, const mechanism *m, scratch *s, real *M);

/* Takes as much memory as the largest of these functions and the coefficients take. */
void KERNEL(reserve_derived)(const formulation *f, const mechanism *m, scratch *s);

#endif
