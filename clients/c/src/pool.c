/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Allocates memory for the parts of one message in pieces and frees all of it at once.
 */
#include "pool.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>

enum { BLOCK_SIZE = 1 << 14 };

struct pool_block {
    pool_block *next;
    size_t used, size;
    alignas(max_align_t) unsigned char bytes[];
};

/* Returns the newest block if it has room for `size` bytes, otherwise a new one. Returns NULL when out of memory. */
static pool_block *block_with(pool *from, size_t size) {
    if (from->blocks && from->blocks->size - from->blocks->used >= size) {
        return from->blocks;
    }
    size_t room = size > BLOCK_SIZE ? size : BLOCK_SIZE;
    pool_block *block = calloc(1, sizeof *block + room);
    if (block) {
        block->next = from->blocks;
        block->size = room;
        from->blocks = block;
    }
    return block;
}

void *pool_allocate(pool *from, size_t count, size_t size) {
    size_t bytes;
    pool_block *block = NULL;
    if (!__builtin_mul_overflow(count, size, &bytes) && bytes < SIZE_MAX / 2) {
        bytes = (bytes + alignof(max_align_t) - 1) / alignof(max_align_t) * alignof(max_align_t);
        block = block_with(from, bytes);
    }
    if (!block) {
        from->is_exhausted = true;
        return NULL;
    }
    void *allocated = block->bytes + block->used;
    block->used += bytes;
    return allocated;
}

void pool_free(pool *freed) {
    while (freed->blocks) {
        pool_block *next = freed->blocks->next;
        free(freed->blocks);
        freed->blocks = next;
    }
    *freed = (pool){0};
}
