/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory for the parts of one message: allocated in pieces, freed at once.
 */
#ifndef CLIENT_POOL_H
#define CLIENT_POOL_H

#include <stdbool.h>
#include <stddef.h>

typedef struct pool_block pool_block;

/* A zeroed pool is empty. */
typedef struct pool {
    pool_block *blocks;
    bool is_exhausted; /* an allocation failed */
} pool;

/* Allocates zeroed memory for `count` elements. Returns NULL when out of memory. */
void *pool_allocate(pool *from, size_t count, size_t size);

/* Frees all memory of the pool, which is empty afterwards. */
void pool_free(pool *freed);

#endif
