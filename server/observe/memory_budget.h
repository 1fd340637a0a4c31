/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Budget of the bytes that the daemon holds for its clients: arriving messages, decoded requests, results, and replies
 * until the system has them. It consists of a few relaxed atomics: every function may be called from any thread. A
 * budget that is NULL has no bound.
 */
#ifndef SERVER_OBSERVE_MEMORY_BUDGET_H
#define SERVER_OBSERVE_MEMORY_BUDGET_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct memory_budget {
    atomic_size_t limit;   /* largest number of held bytes */
    atomic_size_t reserve; /* bytes of the limit that only arriving messages may use */
    atomic_size_t held;
    atomic_size_t peak;      /* largest number held at once */
    atomic_bool has_refused; /* a charge was refused */
} memory_budget;

/* Sets the limit; `reserve` bytes of it are for arriving messages only. A reserve that is not less than the limit
 * counts as 0. */
void memory_budget_set(memory_budget *b, size_t limit, size_t reserve);

/* Returns the largest number of bytes that memory_budget_reserve can charge. */
size_t memory_budget_most(const memory_budget *b);

/* Charges bytes before they are allocated. Returns false, and charges nothing, if they do not fit;
 * memory_budget_has_refused reports that later. */
bool memory_budget_reserve(memory_budget *b, size_t bytes);

/* Charges bytes that have arrived already. Returns by how many bytes the limit is exceeded now, or 0. */
size_t memory_budget_add(memory_budget *b, size_t bytes);

/* Releases bytes that were charged. */
void memory_budget_release(memory_budget *b, size_t bytes);

/* Returns whether the held bytes, without `leaving` of them that are about to be released, exceed three quarters of the
 * limit without its reserve. */
bool memory_budget_is_short(const memory_budget *b, size_t leaving);

/* Returns whether a charge was refused since the last call. */
bool memory_budget_has_refused(memory_budget *b);

/* Returns whether the held bytes exceed the limit by more than the reserve: bytes arrive faster than others are
 * released. */
bool memory_budget_is_overrun(const memory_budget *b);

#endif
