/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Centroidal dynamics: momentum about the centre of mass, in world axes, angular part first.
 *
 * The functions allocate nothing and are thread-safe as long as each thread has its own workspace.
 * Errors as in inverse_dynamics.h, and DYN_FAILED_PRECONDITION for a robot without mass.
 * Source: Orin, Goswami and Lee 2013; Wensing and Orin 2016.
 */
#ifndef DYNAMICS_CENTROIDAL_H
#define DYNAMICS_CENTROIDAL_H

#include <stddef.h>

#include <dynamics/export.h>
#include <dynamics/workspace.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Computes the momentum h_G = A_G v, n x 6: angular kg m^2/s, then linear kg m/s. q is n x nq, v is n x nv. Cost
 * O(bodies) per sample. */
DYN_API dyn_status dyn_centroidal_momentum(const dyn_model *model, dyn_workspace *workspace, size_t n, const double *q,
                                           const double *v, double *momentum, dyn_error *error);

/* Computes the rotational inertia of the whole robot about its centre of mass (n x 9, world axes), the centroidal
 * momentum matrix A_G and its rate dA_G/dt (n x 6 x nv each). The rate of momentum is A_G a + dA_G/dt v: the sum of the
 * external and gravity wrenches. Any output may be NULL. Only the rate uses v (NULL: zero). Cost O(bodies + nv) per
 * sample. */
DYN_API dyn_status dyn_centroidal(const dyn_model *model, dyn_workspace *workspace, size_t n, const double *q,
                                  const double *v, double *inertia, double *A_G, double *dA_G, dyn_error *error);

#ifdef __cplusplus
}
#endif

#endif
