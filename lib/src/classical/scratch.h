/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Scratch memory of a formulation: a stack of arrays in one block. A function that allocates its arrays from a scratch
 * without a block measures how much memory it needs; the same function then allocates them from the block.
 */
#ifndef DYNAMICS_CLASSICAL_SCRATCH_H
#define DYNAMICS_CLASSICAL_SCRATCH_H

#include <stddef.h>

#include "../spatial/real.h"

/* Block of memory, and the part of it that is allocated. */
typedef struct scratch {
    char *block; /* NULL: the scratch only measures */
    size_t used; /* bytes */
} scratch;

static inline scratch scratch_measure(void) {
    scratch s = {NULL, 0};
    return s;
}

/* Allocates an array of `count` elements of `size` bytes, aligned to 16. Its contents are undefined. Returns NULL where
 * the scratch only measures. */
static inline void *scratch_take(scratch *s, size_t count, size_t size) {
    void *array = s->block ? s->block + s->used : NULL;
    s->used += (count * size + 15) / 16 * 16;
    return array;
}

static inline real *scratch_reals(scratch *s, size_t count) {
    return (real *)scratch_take(s, count, sizeof(real));
}

#endif
