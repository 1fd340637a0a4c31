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

typedef struct arena_block arena_block;

typedef struct arena {
    arena_block *kept;            /* first block, reused */
    arena_block *blocks;          /* further ones, the newest first */
    size_t used, limit;           /* bytes given out since the last reset, and how many may be */
    bool is_exhausted;            /* an allocation was refused since the last reset */
    ProtobufCAllocator allocator; /* for protobuf-c; its free does nothing */
} arena;

/* Prepares an arena without memory. */
void arena_init(arena *a);

/* Gives everything back to the system. */
void arena_free(arena *a);

/* Forgets all allocations; at most `limit` bytes may be asked for from now on. */
void arena_reset(arena *a, size_t limit);

/* Zeroed memory, aligned for every type; NULL beyond the limit or when out of memory. Size 0 gives a valid pointer. */
void *arena_allocate(arena *a, size_t size);

/* The same for count elements; NULL also where their product overflows. */
void *arena_array(arena *a, size_t count, size_t size);

#endif
