/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A bare nng REQ client: one context, one asynchronous operation, no decoding.
 */
#ifndef DYNAMICS_BENCH_RAW_CLIENT_H
#define DYNAMICS_BENCH_RAW_CLIENT_H

#include <stddef.h>

typedef struct raw_client raw_client;

raw_client *raw_client_connect(const char *address);
void raw_client_close(raw_client *c);

/* Sends a request and waits for the reply, of which it copies at most `capacity` bytes to `reply` (may be NULL).
 * Returns the size of the whole reply. Ends the program where the call fails or has no reply within 10 s. */
size_t raw_client_call(raw_client *c, const void *request, size_t size, void *reply, size_t capacity);

#endif
