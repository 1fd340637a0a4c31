/* SPDX-License-Identifier: BSD-2-Clause */
/* Classifies numbered points as new, reordered or repeated, and counts the lost ones. */
#include "simulations/point_order.h"

#include <string.h>

static bool is_seen(const point_order *order, uint64_t sequence) {
    uint64_t place = sequence % POINT_ORDER_WINDOW;
    return order->seen[place / 64] >> place % 64 & 1;
}

static void mark(point_order *order, uint64_t sequence, bool came) {
    uint64_t place = sequence % POINT_ORDER_WINDOW, bit = (uint64_t)1 << place % 64;
    order->seen[place / 64] = came ? order->seen[place / 64] | bit : order->seen[place / 64] & ~bit;
}

/* Moves the window so that it ends at a higher number. */
static void advance(point_order *order, uint64_t sequence) {
    uint64_t gap = sequence - order->last - 1;
    order->lost += gap;
    if (gap >= POINT_ORDER_WINDOW) {
        memset(order->seen, 0, sizeof order->seen);
    } else {
        for (uint64_t n = order->last + 1; n < sequence; n++) {
            mark(order, n, false);
        }
    }
    order->last = sequence;
    mark(order, sequence, true);
}

bool point_order_has(const point_order *order, uint64_t sequence) {
    bool is_old = sequence <= order->last && order->last - sequence >= POINT_ORDER_WINDOW;
    return sequence == 0 || is_old || (sequence <= order->last && is_seen(order, sequence));
}

point_kind point_order_add(point_order *order, uint64_t sequence) {
    if (point_order_has(order, sequence)) {
        return POINT_DUPLICATE;
    }
    if (sequence > order->last) {
        advance(order, sequence);
        return POINT_NEW;
    }
    mark(order, sequence, true);
    order->lost--;
    return POINT_REORDERED;
}
