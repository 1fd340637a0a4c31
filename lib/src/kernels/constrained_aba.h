/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Constrained articulated bodies of the instance that is being compiled (constraint_kernels.h).
 */
#ifndef DYNAMICS_KERNELS_CONSTRAINED_ABA_H
#define DYNAMICS_KERNELS_CONSTRAINED_ABA_H

#include "constraint_kernels.h"
#include "instance.h"

size_t KERNEL(constrained_aba_memory)(const dyn_model *model, const body_couplings *couplings, int m);

void KERNEL(constrained_aba_begin)(const dyn_model *model, void *memory, const packed_inputs *in, const held_rows *rows,
                                   void *pivots, const held_motion *out);

void KERNEL(constrained_aba_iterate)(const dyn_model *model, void *memory, const packed_inputs *in,
                                     const held_rows *rows, const void *share, const held_motion *out);

#endif
