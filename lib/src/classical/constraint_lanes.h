/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of the levels of the constraint force algorithm in vectors of an instruction set (constraint_levels.h). Each
 * exists where the build has the kernels of the set.
 */
#ifndef DYNAMICS_CLASSICAL_CONSTRAINT_LANES_H
#define DYNAMICS_CLASSICAL_CONSTRAINT_LANES_H

extern const struct constraint_lanes dyn_constraint_lanes_chain_avx512, dyn_constraint_lanes_chain_avx2;

#endif
