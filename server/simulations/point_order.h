/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Order of numbered points: new, repeated, out of order, lost. Pure functions.
 */
#ifndef SERVER_SIMULATIONS_POINT_ORDER_H
#define SERVER_SIMULATIONS_POINT_ORDER_H

#include <stdint.h>

/* Numbers below the last one that are remembered. A multiple of 64. */
enum { POINT_ORDER_WINDOW = 1024 };

/* All zero at the start. */
typedef struct point_order {
    uint64_t last;                          /* the highest number that came; 0: none */
    uint64_t lost;                          /* numbers below it that did not come */
    uint64_t seen[POINT_ORDER_WINDOW / 64]; /* bit n % WINDOW: number n came, for the last WINDOW numbers */
} point_order;

typedef enum point_verdict {
    POINT_NEW,       /* higher than all before; those between are lost so far */
    POINT_REORDERED, /* counted as lost until now */
    POINT_DUPLICATE, /* came before, or so long ago that nobody knows; also number 0 */
} point_verdict;

/* Takes note of a number. */
point_verdict point_order_take(point_order *order, uint64_t sequence);

#endif
