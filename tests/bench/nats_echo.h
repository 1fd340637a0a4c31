/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A NATS server for the benchmark, and an echo behind it: a subscriber that answers each request at once with a fixed
 * number of bytes. Its times are the lower bound for every request over NATS.
 */
#ifndef DYNAMICS_BENCH_NATS_ECHO_H
#define DYNAMICS_BENCH_NATS_ECHO_H

#include <stdbool.h>
#include <stddef.h>

#include "child.h"

typedef struct bench_nats {
    child process;
    char directory[64];
    char url[64];
} bench_nats;

/* Starts a NATS server at a port that the system chooses. Returns false where there is none on this machine. */
bool nats_start(bench_nats *n);
void nats_stop(bench_nats *n);

/* Answers requests of the subject "echo" until the process ends. */
_Noreturn void serve_nats_echo(const char *url, size_t reply_size);

/* Starts such an echo in a process of its own. */
child nats_echo_start(const char *url, size_t reply_size);

/* A bare NATS client. */
typedef struct nats_caller nats_caller;

nats_caller *nats_caller_connect(const char *url);
void nats_caller_close(nats_caller *c);

/* Sends a request of so many bytes to the echo and waits for the reply. Ends the program where there is none. */
void nats_caller_call(nats_caller *c, size_t size);

#endif
