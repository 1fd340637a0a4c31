/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Choice of the compiled kernel instance for this processor.
 */
#ifndef DYNAMICS_DYNAMICS_INSTRUCTION_SET_H
#define DYNAMICS_DYNAMICS_INSTRUCTION_SET_H

#include <stdbool.h>

#include <dynamics/workspace.h>

#include "../kernels/kernels.h"

enum { PRECISIONS = DYN_PRECISION_SINGLE + 1 };

/* Kernel instances of one instruction set and precision, with the same fused operations: a sample has the same bits in
 * all of them. */
typedef struct kernel_trio {
    const kernel_table *wide; /* many samples at once */
    const kernel_table *half; /* half as many samples as `wide`, or `wide` itself */
    const kernel_table *one;  /* one sample */
    size_t half_from;         /* number of samples from which `half` is faster than as many single ones */
} kernel_trio;

/* Instruction set, the test whether this processor supports it, and its kernels for each precision. */
typedef struct instruction_set {
    const char *name;
    bool (*available)(void);
    kernel_trio kernels[PRECISIONS];
} instruction_set;

/* Returns the best set that this processor supports, or the one that the environment variable DYNAMICS_INSTRUCTION_SET
 * names, if the processor supports it. */
const instruction_set *dyn_choose_instruction_set(void);

#endif
