/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fast channel of a client that does not follow the rules: opens it without the client library, so that a test can
 * write anything into the shared memory, in a process of its own.
 */
#ifndef DYNAMICS_TESTS_RAW_CHANNEL_H
#define DYNAMICS_TESTS_RAW_CHANNEL_H

#include <dynamics/v1/fast_channel.h>
#include <stdbool.h>
#include <sys/types.h>

typedef struct raw_channel {
    int connection; /* -1: none */
    uint32_t code;  /* Code of the daemon's reply; UINT32_MAX: no reply */
    char message[256];
    fast_memory *memory;
    size_t size, nq, nv, input_numbers;
} raw_channel;

/* Opens a channel for a model at the daemon's ipc address. Returns whether it is open. */
bool raw_channel_open(const char *ipc, const char *model, raw_channel *channel);

void raw_channel_close(raw_channel *channel);

/* Writes a question about the gravity forces of one zero state, and wakes the daemon. Does not wait. */
void raw_channel_ask(raw_channel *channel);

/* Waits for the answer to the last question, at most `seconds`. */
bool raw_channel_is_answered(const raw_channel *channel, double seconds);

/* Starts a process that calls `act` with an open channel, tells when it is done with that, and waits for a signal.
 * Returns its number. */
pid_t raw_channel_child(const char *ipc, void (*act)(raw_channel *channel));

#endif
