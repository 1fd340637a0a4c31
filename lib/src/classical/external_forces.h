/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Wrenches of the environment on the links, in the form that the formulations read: one for each link, in its axes,
 * about its origin.
 */
#ifndef DYNAMICS_CLASSICAL_EXTERNAL_FORCES_H
#define DYNAMICS_CLASSICAL_EXTERNAL_FORCES_H

#include <dynamics/external_force.h>

#include "mechanism.h"

/* Allocates and computes the sum of the external forces on each link in row `sample` of each force. Returns NULL
 * without forces, and where the scratch only measures. */
force *KERNEL(external_forces)(const mechanism *m, const dyn_external_forces *forces, size_t sample, scratch *s);

/* Allocates and computes J' f, the sum over the links of their Jacobians' transposes times the wrenches f: nv numbers.
 * Returns NULL where the scratch only measures.
 * Source: Featherstone 2008, section 5.3, by the recursion of equation 5.20. */
real *KERNEL(generalized_forces)(const mechanism *m, const force *f, scratch *s);

#endif
