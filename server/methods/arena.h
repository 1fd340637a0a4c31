/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory of one request: allocated in sequence, freed at once, bounded.
 *
 * The first block is kept from request to request, so that ordinary requests allocate nothing. All memory comes zeroed.
 * An arena belongs to one thread at a time.
 */
#ifndef SERVER_METHODS_ARENA_H
#define SERVER_METHODS_ARENA_H

#include <protobuf-c/protobuf-c.h>
#include <stdbool.h>
#include <stddef.h>

#include "observe/memory_budget.h"

typedef struct arena_block arena_block;

typedef struct arena {
    arena_block *kept;            /* first block, reused */
    arena_block *blocks;          /* further ones, the newest first */
    size_t used, limit;           /* bytes given out since the last reset, and how many may be */
    bool is_exhausted;            /* an allocation was refused since the last reset, */
    bool is_short;                /* for want of memory, and not because of the limit */
    memory_budget *budget;        /* what the further blocks are charged to; NULL: nothing */
    bool is_copied;               /* each byte may be copied once more into the reply, and is charged twice */
    size_t charged, set_aside;    /* bytes of the budget for the blocks, and for their copy */
    ProtobufCAllocator allocator; /* for protobuf-c; its free does nothing */
} arena;

/* Prepares an arena without memory. */
void arena_init(arena *a);

/* Charges all but the first block to a budget from now on. With `is_copied` as many bytes are set aside for a copy, so
 * that memory for a reply is found before the work for it is done. */
void arena_charge(arena *a, memory_budget *budget, bool is_copied);

/* Passes the bytes that were set aside on to the caller, who has to release them. */
size_t arena_pass_on(arena *a);

/* Gives everything back to the system. */
void arena_free(arena *a);

/* Forgets all allocations; at most `limit` bytes may be asked for from now on. */
void arena_reset(arena *a, size_t limit);

/* Zeroed memory, aligned for every type; NULL beyond the limit or when out of memory. Size 0 gives a valid pointer. */
void *arena_allocate(arena *a, size_t size);

/* Allocates count elements. Returns NULL also if the product overflows. */
void *arena_array(arena *a, size_t count, size_t size);

#endif
