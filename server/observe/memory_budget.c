/* SPDX-License-Identifier: BSD-2-Clause */
/* Charges and releases the bytes that the daemon holds for its clients. */
#include "observe/memory_budget.h"

#include <stdint.h>

void memory_budget_set(memory_budget *b, size_t limit, size_t reserve) {
    atomic_store(&b->limit, limit);
    atomic_store(&b->reserve, reserve < limit ? reserve : 0);
}

size_t memory_budget_most(const memory_budget *b) {
    return atomic_load_explicit(&b->limit, memory_order_relaxed) -
           atomic_load_explicit(&b->reserve, memory_order_relaxed);
}

static void raise_peak(memory_budget *b, size_t held) {
    size_t peak = atomic_load_explicit(&b->peak, memory_order_relaxed);
    while (held > peak &&
           !atomic_compare_exchange_weak_explicit(&b->peak, &peak, held, memory_order_relaxed, memory_order_relaxed)) {
    }
}

bool memory_budget_reserve(memory_budget *b, size_t bytes) {
    if (!b) {
        return true;
    }
    size_t most = memory_budget_most(b);
    size_t held = atomic_load_explicit(&b->held, memory_order_relaxed);
    do {
        if (held > most || bytes > most - held) {
            atomic_store_explicit(&b->has_refused, true, memory_order_relaxed);
            return false;
        }
    } while (!atomic_compare_exchange_weak_explicit(&b->held, &held, held + bytes, memory_order_relaxed,
                                                    memory_order_relaxed));
    raise_peak(b, held + bytes);
    return true;
}

size_t memory_budget_add(memory_budget *b, size_t bytes) {
    if (!b) {
        return 0;
    }
    size_t held = atomic_fetch_add_explicit(&b->held, bytes, memory_order_relaxed) + bytes;
    size_t limit = atomic_load_explicit(&b->limit, memory_order_relaxed);
    raise_peak(b, held);
    return held > limit ? held - limit : 0;
}

void memory_budget_release(memory_budget *b, size_t bytes) {
    if (b) {
        atomic_fetch_sub_explicit(&b->held, bytes, memory_order_relaxed);
    }
}

bool memory_budget_is_short(const memory_budget *b, size_t leaving) {
    if (!b) {
        return false;
    }
    size_t most = memory_budget_most(b);
    return atomic_load_explicit(&b->held, memory_order_relaxed) > most / 4 * 3 + leaving;
}

bool memory_budget_has_refused(memory_budget *b) {
    return b && atomic_exchange_explicit(&b->has_refused, false, memory_order_relaxed);
}

bool memory_budget_is_overrun(const memory_budget *b) {
    return b && atomic_load_explicit(&b->held, memory_order_relaxed) >
                    atomic_load_explicit(&b->limit, memory_order_relaxed) +
                        atomic_load_explicit(&b->reserve, memory_order_relaxed);
}
