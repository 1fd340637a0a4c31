/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Alignment of scratch memory that an algorithm hands on: some algorithms need that of a workspace, 64 bytes.
 */
#ifndef DYNAMICS_KERNELS_SCRATCH_H
#define DYNAMICS_KERNELS_SCRATCH_H

#include <stddef.h>
#include <stdint.h>

enum { SCRATCH_ALIGNMENT = 64 };

/* Returns the first address from `memory` on that is aligned as the scratch memory of a workspace. */
static inline void *align_scratch(void *memory) {
    size_t beyond = (uintptr_t)memory % SCRATCH_ALIGNMENT;
    return (char *)memory + (beyond > 0 ? SCRATCH_ALIGNMENT - beyond : 0);
}

#endif
