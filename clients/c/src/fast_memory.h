/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory that a client and the daemon share: opens it at the daemon's socket, and exchanges one request and reply.
 */
#ifndef CLIENT_FAST_MEMORY_H
#define CLIENT_FAST_MEMORY_H

#include <dynamics/v1/fast_channel.h>
#include <dynamics/v1/fast_channel.pb-c.h>
#include <stdatomic.h>

#include "dynamics_client.h"

/* Shared memory of an open channel, with the numbers of the daemon's reply. */
typedef struct fast_shared {
    int connection; /* -1: the channel is closed */
    fast_memory *memory;
    size_t size;
    size_t nq, nv, samples, input_numbers, output_numbers;
} fast_shared;

/* Outcome of an exchange. */
typedef enum fast_outcome {
    FAST_ANSWERED,
    FAST_CLOSED,    /* the daemon has closed the channel, or has ended */
    FAST_TIMED_OUT, /* the daemon still computes */
    FAST_ABORTED
} fast_outcome;

/* Opens the channel at a path within `timeout` s. On success the caller frees the reply, and closes the memory with
 * fast_shared_close. Errors: those of the daemon; UNREACHABLE where nothing listens, BAD_REPLY. */
dyn_client_status fast_shared_open(const char *path, const Dynamics__V1__OpenFastChannelRequest *request,
                                   double timeout, fast_shared *opened, Dynamics__V1__OpenFastChannelReply **reply,
                                   dyn_client_error *error);

/* Returns whether the daemon has answered the last request, so that another one may be written. */
bool fast_shared_is_free(const fast_shared *s);

/* Sends the request whose question and inputs are in the memory, and waits for the reply: spins for `spin` s, and
 * sleeps then. */
fast_outcome fast_shared_exchange(fast_shared *s, double spin, double timeout, const atomic_bool *is_aborted);

/* Closes the channel, which may be closed already. */
void fast_shared_close(fast_shared *s);

#endif
