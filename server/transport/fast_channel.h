/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fast channel: calls of one client by shared memory (dynamics/v1/fast_channel.h), served by one thread.
 *
 * The client may write anything into the memory at any time. The thread copies heads before it checks them, copies the
 * inputs before they are used, and reads no result back. A client can only delay or spoil its own calls.
 */
#ifndef SERVER_TRANSPORT_FAST_CHANNEL_H
#define SERVER_TRANSPORT_FAST_CHANNEL_H

#include <pthread.h>

#include "transport/fast_handler.h"

/* Facts that all channels share. */
typedef struct fast_terms {
    fast_handler handler;
    logger *log;
    counters *counters;
    _Atomic uint64_t spin; /* ns, longest spin; 0: none */
    int ended;             /* eventfd that a channel writes to when its thread is done */
    log_episode damaged;
} fast_terms;

typedef struct fast_channel fast_channel;

/* Starts the thread of a channel, which receives the client's request from `connection`. The channel owns the
 * descriptor and the groups of the peer from then on. Without memory or threads releases both, and returns NULL. */
fast_channel *fast_channel_start(fast_terms *terms, int connection, const fast_peer *peer);

/* Asks the thread to end, at its next request or at once while it waits. May be called repeatedly. */
void fast_channel_end(fast_channel *c);

/* Returns whether the thread is done. Then fast_channel_free does not wait. */
bool fast_channel_is_done(fast_channel *c);

/* Waits for the thread, and frees the channel. */
void fast_channel_free(fast_channel *c);

#endif
