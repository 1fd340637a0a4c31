/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Forces of struts, cables, bushings and fluids (dynamics/machine_element.h), which act on links.
 */
#ifndef DYNAMICS_ACTUATION_LINK_FORCE_H
#define DYNAMICS_ACTUATION_LINK_FORCE_H

#include <dynamics/model.h>
#include <dynamics/passive_force.h>

/* Returns the number of machine elements that act on links. */
int dyn_link_force_count(const dyn_model *model);

/* Adds factor * r of one machine element in one sample to tau, nv: the parts that count. v may be NULL where damping
 * does not count. An element that acts on a joint adds nothing. */
void dyn_add_link_force(const dyn_model *model, int element, const dyn_passive_parts *parts, double factor,
                        const double *q, const double *v, double *tau);

/* Returns the potential energy of one machine element in one sample, J. */
double dyn_link_force_energy(const dyn_model *model, int element, const double *q);

#endif
