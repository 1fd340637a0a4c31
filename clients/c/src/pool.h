/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory of the parts of one message: taken piece by piece, freed at once.
 */
#ifndef CLIENT_POOL_H
#define CLIENT_POOL_H

#include <stdbool.h>
#include <stddef.h>

typedef struct pool_block pool_block;

/* A zeroed pool is empty. */
typedef struct pool {
    pool_block *blocks;
    bool is_exhausted; /* some memory could not be had */
} pool;

/* Zeroed memory for `count` elements; NULL when there is none. */
void *pool_take(pool *from, size_t count, size_t size);

/* Frees all of it; the pool is empty then. */
void pool_free(pool *freed);

#endif
