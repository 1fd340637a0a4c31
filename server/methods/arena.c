/* SPDX-License-Identifier: BSD-2-Clause */
/* Arena: allocates the memory of one request in sequence, and frees it at once. */
#include "methods/arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Alignment of all allocations, and least size of a block, in bytes. */
enum { ALIGNMENT = 16, BLOCK_SIZE = 32 << 10 };

struct arena_block {
    arena_block *next;
    size_t size, used; /* bytes after the header: their number, and how many of them are allocated */
    _Alignas(ALIGNMENT) unsigned char bytes[];
};

static void *allocate_for_protobuf(void *data, size_t size) {
    return arena_allocate(data, size);
}

static void free_for_protobuf(void *data, void *pointer) {
    (void)data;
    (void)pointer;
}

void arena_init(arena *a) {
    memset(a, 0, sizeof *a);
    a->allocator = (ProtobufCAllocator){.alloc = allocate_for_protobuf, .free = free_for_protobuf, .allocator_data = a};
}

void arena_charge(arena *a, memory_budget *budget, bool is_copied) {
    a->budget = budget;
    a->is_copied = is_copied;
}

void arena_charge_share(arena *a, memory_budget *share) {
    a->share = share;
}

/* Releases the share's part of `bytes`. The blocks were charged to it if it is set. */
static void release_share(arena *a, size_t bytes) {
    if (a->share) {
        memory_budget_release(a->share, bytes);
    }
}

size_t arena_pass_on(arena *a) {
    size_t bytes = a->set_aside;
    release_share(a, bytes);
    a->set_aside = 0;
    return bytes;
}

static void free_blocks(arena *a) {
    while (a->blocks) {
        arena_block *block = a->blocks;
        a->blocks = block->next;
        free(block);
    }
    memory_budget_release(a->budget, a->charged + a->set_aside);
    release_share(a, a->charged + a->set_aside);
    a->share = NULL;
    a->charged = 0;
    a->set_aside = 0;
}

void arena_free(arena *a) {
    free_blocks(a);
    free(a->reused);
    a->reused = NULL;
}

void arena_reset(arena *a, size_t limit) {
    free_blocks(a);
    if (a->reused) {
        memset(a->reused->bytes, 0, a->reused->used);
        a->reused->used = 0;
    }
    a->used = 0;
    a->limit = limit;
    a->is_exhausted = false;
    a->is_short = false;
    a->is_over_share = false;
    a->needed = 0;
}

/* Creates a block of at least `size` zeroed bytes. Large blocks come from the system as untouched zero pages. Returns
 * NULL when out of memory. */
static arena_block *create_block(size_t size) {
    size_t total = (sizeof(arena_block) + size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    arena_block *block;
    if (total < size) {
        return NULL;
    }
    block = calloc(1, total);
    if (block) {
        block->size = total - sizeof(arena_block);
    }
    return block;
}

/* Creates a further block and charges it, with its copy, to the budget. Returns NULL when memory is short. */
static arena_block *create_charged_block(arena *a, size_t size) {
    size_t copy = a->is_copied ? size : 0;
    if (size > SIZE_MAX / 4) {
        a->needed = SIZE_MAX;
        return NULL;
    }
    a->needed = a->charged + a->set_aside + size + copy;
    if (a->share && !memory_budget_reserve(a->share, size + copy)) {
        a->is_over_share = true;
        return NULL;
    }
    bool has_room = memory_budget_reserve(a->budget, size + copy);
    arena_block *block = has_room ? create_block(size) : NULL;
    if (!block) {
        memory_budget_release(a->budget, has_room ? size + copy : 0);
        release_share(a, size + copy);
        return NULL;
    }
    a->charged += size;
    a->set_aside += copy;
    return block;
}

/* Allocates `size` bytes (a multiple of the alignment) from a block. Returns NULL if they do not fit. */
static void *bump(arena_block *block, size_t size) {
    if (!block || size > block->size - block->used) {
        return NULL;
    }
    void *result = block->bytes + block->used;
    block->used += size;
    return result;
}

bool arena_reserve(arena *a, size_t size) {
    arena_reset(a, a->limit);
    if (a->reused && a->reused->size >= size) {
        return true;
    }
    arena_block *block = create_block(size > BLOCK_SIZE ? size : BLOCK_SIZE);
    if (block) {
        free(a->reused);
        a->reused = block;
    }
    return block;
}

void *arena_allocate(arena *a, size_t size) {
    size_t rounded = size == 0 ? ALIGNMENT : (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (rounded < size || rounded > a->limit - a->used) {
        a->is_exhausted = true;
        return NULL;
    }
    if (!a->reused) {
        a->reused = create_block(BLOCK_SIZE);
    }
    void *result = bump(a->reused, rounded);
    if (!result) {
        result = bump(a->blocks, rounded);
    }
    if (!result) {
        arena_block *block = create_charged_block(a, rounded > BLOCK_SIZE ? rounded : BLOCK_SIZE);
        if (!block) {
            a->is_exhausted = true;
            a->is_short = true;
            return NULL;
        }
        block->next = a->blocks;
        a->blocks = block;
        result = bump(block, rounded);
    }
    a->used += rounded;
    return result;
}

void *arena_array(arena *a, size_t count, size_t size) {
    if (size != 0 && count > SIZE_MAX / size) {
        a->is_exhausted = true;
        return NULL;
    }
    return arena_allocate(a, count * size);
}
