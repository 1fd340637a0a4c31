/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Parts of one block of memory. A function that carves the parts from address 0 measures the block; the same function
 * then carves them from the block itself.
 */
#ifndef DYNAMICS_DYNAMICS_CARVE_H
#define DYNAMICS_DYNAMICS_CARVE_H

#include <stddef.h>
#include <stdint.h>

enum { CARVE_ALIGNMENT = 64 };

/* Returns `bytes` rounded up to the alignment. */
static inline size_t dyn_carve_size(size_t bytes) {
    return (bytes + CARVE_ALIGNMENT - 1) / CARVE_ALIGNMENT * CARVE_ALIGNMENT;
}

/* Returns the part of `bytes` at *cursor, and advances the cursor, which stays aligned. */
static inline void *dyn_carve(uintptr_t *cursor, size_t bytes) {
    void *part = (void *)*cursor;
    *cursor += dyn_carve_size(bytes);
    return part;
}

#endif
