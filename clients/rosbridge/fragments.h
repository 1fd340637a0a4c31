/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reassembles messages that arrive in fragments, within limits.
 */
#ifndef ROSBRIDGE_FRAGMENTS_H
#define ROSBRIDGE_FRAGMENTS_H

#include <stdbool.h>
#include <stddef.h>

typedef struct fragment_limits {
    size_t messages;  /* incomplete messages at a time */
    size_t fragments; /* fragments of one message */
    size_t bytes;     /* bytes of all incomplete messages */
    double time;      /* s from the first fragment to the last */
} fragment_limits;

typedef struct partial_message partial_message;

/* Incomplete messages of one peer. */
typedef struct fragments {
    partial_message *partial;
    size_t count, bytes;
} fragments;

enum { FRAGMENT_ERROR_SIZE = 160 };

typedef enum fragment_result { FRAGMENT_STORED, FRAGMENT_COMPLETE, FRAGMENT_REFUSED } fragment_result;

/* Fragment `number` (from 0) of `total` of the message `id`. */
typedef struct fragment {
    const char *id;
    const char *data;
    size_t length;
    long long number, total;
} fragment;

/* Adds a fragment at the time `now`. FRAGMENT_COMPLETE: `message` is the whole message of `size` bytes, which the
 * caller frees. FRAGMENT_REFUSED: `error` names the cause, and the message is dropped. */
fragment_result fragments_add(fragments *of, const fragment_limits *limits, double now, const fragment *added,
                              char **message, size_t *size, char error[FRAGMENT_ERROR_SIZE]);

/* Drops messages that are not complete in time and returns their number. */
size_t fragments_expire(fragments *of, const fragment_limits *limits, double now);

void fragments_free(fragments *freed);

#endif
