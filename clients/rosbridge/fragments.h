/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages that arrive in fragments, put together again.
 */
#ifndef ROSBRIDGE_FRAGMENTS_H
#define ROSBRIDGE_FRAGMENTS_H

#include <stdbool.h>
#include <stddef.h>

typedef struct fragment_limits {
    size_t messages;  /* incomplete ones at a time */
    size_t fragments; /* of one message */
    size_t bytes;     /* of all that is incomplete */
    double time;      /* s from the first fragment to the last */
} fragment_limits;

typedef struct partial_message partial_message;

/* All of one peer. */
typedef struct fragments {
    partial_message *partial;
    size_t count, bytes;
} fragments;

enum { FRAGMENT_ERROR_SIZE = 160 };

typedef enum fragment_result { FRAGMENT_KEPT, FRAGMENT_COMPLETE, FRAGMENT_REFUSED } fragment_result;

/* Takes fragment `number` of `total` of the message `id`, at the time `now`. COMPLETE: `message` is the whole, to be
 * freed. REFUSED: `error` says why, and the message is forgotten. */
fragment_result fragments_take(fragments *of, const fragment_limits *limits, double now, const char *id,
                               const char *data, size_t length, long long number, long long total, char **message,
                               size_t *size, char error[FRAGMENT_ERROR_SIZE]);

/* Forgets messages that take too long; the number of them. */
size_t fragments_expire(fragments *of, const fragment_limits *limits, double now);

void fragments_free(fragments *freed);

#endif
