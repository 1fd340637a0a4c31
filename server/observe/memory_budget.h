/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bytes that the daemon holds for its clients, against one bound: messages that arrive, decoded requests, results, and
 * replies until the system has them.
 *
 * A few relaxed atomics: every function may be called from any thread, and a budget that is NULL has no bound.
 */
#ifndef SERVER_OBSERVE_MEMORY_BUDGET_H
#define SERVER_OBSERVE_MEMORY_BUDGET_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct memory_budget {
    atomic_size_t limit;   /* of all bytes */
    atomic_size_t reserve; /* of them, bytes that only messages which arrive may use */
    atomic_size_t held;
    atomic_size_t peak;      /* most that were held at once */
    atomic_bool has_refused; /* bytes did not fit */
} memory_budget;

/* Sets the bound: `reserve` of the `limit` is left to messages that arrive. */
void memory_budget_set(memory_budget *b, size_t limit, size_t reserve);

/* Charges bytes before they are allocated. False, and nothing is charged, where they do not fit. */
bool memory_budget_take(memory_budget *b, size_t bytes);

/* Charges bytes that have arrived already. Returns by how many bytes the bound is exceeded now. */
size_t memory_budget_add(memory_budget *b, size_t bytes);

/* Releases bytes that were charged. */
void memory_budget_release(memory_budget *b, size_t bytes);

/* Returns whether more than three quarters of what requests and replies may use are held, `leaving` bytes not
 * counted. */
bool memory_budget_is_short(const memory_budget *b, size_t leaving);

/* Returns whether bytes did not fit since the last call. */
bool memory_budget_has_refused(memory_budget *b);

/* Returns whether the bound is exceeded by more than the reserve: bytes arrive faster than others are released. */
bool memory_budget_is_overrun(const memory_budget *b);

#endif
