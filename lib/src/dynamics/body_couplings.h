/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Couplings between the bodies of a model that its constraints cause (kernels/constrained_aba.c).
 */
#ifndef DYNAMICS_DYNAMICS_BODY_COUPLINGS_H
#define DYNAMICS_DYNAMICS_BODY_COUPLINGS_H

#include "../kernels/kernels.h"
#include "../model/normal_form.h"

/* Returns the number of couplings of a model with constraints. Returns -1 where constrained articulated bodies do not
 * apply: without constraints, with polynomial couplings, linear ones of more than two coordinates, prescribed motions
 * or forces of loop joints, with bodies that share a coordinate, with more than 8 couplings a body, and without memory.
 * Cost O(bodies couplings). */
int dyn_count_couplings(const dyn_model *model);

/* Computes the couplings into arrays that have room for dyn_count_couplings. Returns false without memory. */
bool dyn_find_couplings(const dyn_model *model, body_couplings *couplings);

#endif
