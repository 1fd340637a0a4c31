/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Articulated inertia and bias of one body.
 */
#ifndef DYNAMICS_CLASSICAL_ARTICULATED_INERTIA_H
#define DYNAMICS_CLASSICAL_ARTICULATED_INERTIA_H

#include "classical.h"
#include "mechanism.h"

/* Computes I_A (36 numbers, row-major) and p_A (6) of the body that carries a frame (dyn_articulated_inertia), at the
 * velocities v under the joint forces tau. Only reserves memory where the scratch measures. */
void KERNEL(articulate_body)(const mechanism *m, const real *v, const real *tau, const articulated_frame *of,
                             scratch *s, real *inertia, real *bias);

#endif
