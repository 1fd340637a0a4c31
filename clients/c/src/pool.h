/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Allocates memory for the parts of one message in pieces and frees all of it at once.
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

/* Allocates zeroed memory for `count` elements of `size` bytes. The result for zero elements is not NULL. When out of
 * memory returns NULL and sets is_exhausted. */
void *pool_allocate(pool *from, size_t count, size_t size);

/* Frees all memory of the pool, which is empty afterwards. */
void pool_free(pool *freed);

#endif
