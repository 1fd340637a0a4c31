/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Arena: memory of one request, allocated in sequence and freed at once. It is bounded and zeroed. The first block is
 * reused from request to request, so that ordinary requests allocate nothing. An arena belongs to one thread at a time.
 */
#ifndef SERVER_METHODS_ARENA_H
#define SERVER_METHODS_ARENA_H

#include <protobuf-c/protobuf-c.h>
#include <stdbool.h>
#include <stddef.h>

#include "observe/memory_budget.h"

typedef struct arena_block arena_block;

/* Arena, whose members only its functions change. */
typedef struct arena {
    arena_block *reused;       /* first block, reused */
    arena_block *blocks;       /* further blocks, the newest first */
    size_t used, limit;        /* bytes allocated since the last reset, and their bound */
    bool is_exhausted;         /* an allocation failed since the last reset */
    bool is_short;             /* that allocation failed because of the budget or the system, not because of `limit` */
    bool is_over_share;        /* that allocation failed because of `share` */
    size_t needed;             /* bytes that the further blocks and their copies would have with that allocation */
    memory_budget *budget;     /* budget of the further blocks; NULL: none */
    memory_budget *share;      /* share of one user in the budget; NULL: none */
    bool is_copied;            /* each byte may be copied into the reply, and is charged twice */
    size_t charged, set_aside; /* bytes charged to the budget for the further blocks, and for the copy in the reply */
    ProtobufCAllocator allocator; /* for protobuf-c; its free does nothing */
} arena;

/* Prepares an arena without memory. */
void arena_init(arena *a);

/* Charges all but the first block to a budget from now on. With `is_copied` it sets aside as many bytes for a copy, so
 * that a reply that does not fit fails before its computation. */
void arena_charge(arena *a, memory_budget *budget, bool is_copied);

/* Charges the further blocks from now on to the share of a user too, until the next reset. */
void arena_charge_share(arena *a, memory_budget *share);

/* Transfers the bytes of the budget that were set aside for the copy to the caller, who must release them. Returns
 * their number. */
size_t arena_pass_on(arena *a);

/* Returns all memory to the system, and its charge to the budget. */
void arena_free(arena *a);

/* Frees all allocations, keeps the first block, and sets the limit of the following allocations, in bytes. */
void arena_reset(arena *a, size_t limit);

/* Frees all allocations, and makes the first block at least `size` bytes large, so that as much is allocated without a
 * further block. Returns false when out of memory; then the block stays as it is. */
bool arena_reserve(arena *a, size_t size);

/* Allocates zeroed memory, aligned to 16 bytes. Returns NULL beyond the limit, when the budget is exhausted or when out
 * of memory. Size 0 returns a valid pointer. */
void *arena_allocate(arena *a, size_t size);

/* Allocates a zeroed array of `count` elements of `size` bytes. Returns NULL where arena_allocate does, and if the
 * product overflows. */
void *arena_array(arena *a, size_t count, size_t size);

#endif
