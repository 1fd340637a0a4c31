/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Scratch memory of a formulation: a stack of arrays in one block. A function that takes its arrays from a scratch
 * without a block measures how much it needs; the same function then takes them from the block.
 */
#ifndef DYNAMICS_CLASSICAL_SCRATCH_H
#define DYNAMICS_CLASSICAL_SCRATCH_H

#include <stddef.h>

#include "../spatial/real.h"

typedef struct scratch {
    char *block; /* NULL: only measures */
    size_t used; /* bytes */
} scratch;

static inline scratch scratch_measure(void) {
    scratch s = {NULL, 0};
    return s;
}

/* Takes an array of `count` elements of `size` bytes, aligned to 16. Its contents are undefined. */
static inline void *scratch_take(scratch *s, size_t count, size_t size) {
    void *array = s->block ? s->block + s->used : NULL;
    s->used += (count * size + 15) / 16 * 16;
    return array;
}

static inline real *scratch_reals(scratch *s, size_t count) {
    return (real *)scratch_take(s, count, sizeof(real));
}

#endif
