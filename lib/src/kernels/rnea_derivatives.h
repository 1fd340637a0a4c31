/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Declares the derivatives of inverse dynamics in two parts: M and d tau / dv, which do not depend on the acceleration,
 * and d tau / dq. The derivatives of forward dynamics compute the acceleration in between.
 */
#ifndef DYNAMICS_KERNELS_RNEA_DERIVATIVES_H
#define DYNAMICS_KERNELS_RNEA_DERIVATIVES_H

#include "derivative_state.h"

/* Computes d->da = M and d->dv = d tau / dv at (q, v). Returns the state in `memory`, which the other functions use. */
derivative_state KERNEL(rnea_velocity_derivatives)(const dyn_model *model, void *memory, const packed_inputs *in,
                                                   const derivative_matrices *d);
/* Computes d->da = M, and d->dv = 2 C with the Coriolis matrix of the Christoffel symbols, at (q, v). */
void KERNEL(rnea_symbols)(const dyn_model *model, void *memory, const packed_inputs *in, const derivative_matrices *d);
/* Computes tau without acceleration from d->dv: h = (d tau / dv) v / 2 + g - sum J' f_ext. */
void KERNEL(rnea_derivatives_bias)(const derivative_state *s, const wrench_set *forces, const derivative_matrices *d,
                                   real *h);
/* Computes d->dq = d tau / dq at the acceleration a. */
void KERNEL(rnea_position_derivatives)(const derivative_state *s, const void *a, const wrench_set *forces,
                                       const derivative_matrices *d);

#endif
