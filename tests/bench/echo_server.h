/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The floor of every request over nng: a REP server that answers each request at once with the same bytes.
 */
#ifndef DYNAMICS_BENCH_ECHO_SERVER_H
#define DYNAMICS_BENCH_ECHO_SERVER_H

#include <stddef.h>

#include "child.h"

/* Serves until the process is ended: listens at an ipc address and on a tcp port that the system chooses, and writes
 * the address of the latter as a line on standard output. As in the daemon, contexts are served by completion
 * callbacks. */
_Noreturn void serve_echo(const char *ipc, size_t reply_size);

typedef struct echo_server {
    child process;
    char directory[64];
    char ipc[96], tcp[96];
} echo_server;

/* Starts one in a process of its own. */
void echo_server_start(size_t reply_size, echo_server *e);
void echo_server_stop(echo_server *e);

#endif
