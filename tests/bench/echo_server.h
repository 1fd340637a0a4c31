/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Starts an echo server: a REP server that answers each request at once with a fixed number of bytes. Its times are the
 * lower bound for every request over nng.
 */
#ifndef DYNAMICS_BENCH_ECHO_SERVER_H
#define DYNAMICS_BENCH_ECHO_SERVER_H

#include <stddef.h>

#include "child.h"

/* Serves requests until the process ends. Listens at an ipc address and on a tcp port that the system chooses, and
 * writes the tcp address as a line on standard output. Completion callbacks serve the contexts, as in the daemon. */
_Noreturn void serve_echo(const char *ipc, size_t reply_size);

typedef struct echo_server {
    child process;
    char directory[64];
    char ipc[96], tcp[96];
} echo_server;

/* Starts an echo server in a process of its own. */
void echo_server_start(size_t reply_size, echo_server *e);
void echo_server_stop(echo_server *e);

#endif
