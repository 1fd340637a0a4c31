/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Kinetic and potential energy of a robot.
 */
#ifndef DYNAMICS_ENERGY_H
#define DYNAMICS_ENERGY_H

#include <stddef.h>

#include <dynamics/export.h>
#include <dynamics/workspace.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Computes the kinetic energy T = v' M v / 2 and the potential energy V = -sum of m g' c of all moving links, in J, n
 * numbers each; either may be NULL. V is zero with all mass at the world's origin. q is n x nq, v (NULL: zero) is n x
 * nv; `gravity`, errors, aliasing and threads as in inverse_dynamics.h. Cost O(bodies) per sample.
 * Source: Modern Robotics (Lynch and Park 2017), section 8.1.2. */
DYN_API dyn_status dyn_energy(const dyn_model *model, dyn_workspace *workspace, size_t n, const double *gravity,
                              const double *q, const double *v, double *kinetic, double *potential, dyn_error *error);

#ifdef __cplusplus
}
#endif

#endif
