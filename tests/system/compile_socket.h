/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Listens at a unix socket as dynamics-compile.socket does: each connection starts a program, whose standard input it
 * is.
 */
#ifndef DYNAMICS_TESTS_COMPILE_SOCKET_H
#define DYNAMICS_TESTS_COMPILE_SOCKET_H

#include <sys/types.h>

/* Listens at the path in a process of its own. The programs have temporary files in `files`. Returns the process. */
pid_t compile_socket_start(const char *path, const char *files, char *const program[]);

/* Ends the process, but no program that runs for a connection. */
void compile_socket_stop(pid_t process, const char *path);

/* Connects to the socket at the path. The caller closes the connection. */
int compile_socket_connect(const char *path);

#endif
