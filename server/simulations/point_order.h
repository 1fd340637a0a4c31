/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Order of numbered points: detects new, repeated, reordered and lost ones. The functions access no other state.
 */
#ifndef SERVER_SIMULATIONS_POINT_ORDER_H
#define SERVER_SIMULATIONS_POINT_ORDER_H

#include <stdbool.h>
#include <stdint.h>

/* Size of the window of remembered numbers, up to the last one. A multiple of 64. */
enum { POINT_ORDER_WINDOW = 1024 };

/* State of the order. All zero at the start. */
typedef struct point_order {
    uint64_t last;                          /* highest number so far; 0: none */
    uint64_t lost;                          /* missing numbers below `last` */
    uint64_t seen[POINT_ORDER_WINDOW / 64]; /* bit n % WINDOW: number n arrived, for the last WINDOW numbers */
} point_order;

typedef enum point_kind {
    POINT_NEW,       /* higher than all before; the numbers between count as lost */
    POINT_REORDERED, /* counted as lost until now */
    POINT_DUPLICATE, /* arrived before, or is older than the window; also number 0 */
} point_kind;

/* Returns whether a number arrived before, is older than the window, or is 0. */
bool point_order_has(const point_order *order, uint64_t sequence);

/* Records a number and classifies it. */
point_kind point_order_add(point_order *order, uint64_t sequence);

#endif
