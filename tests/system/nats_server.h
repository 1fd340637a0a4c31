/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs a real nats-server (Debian: nats-server) for a test. It ends with the test program.
 */
#ifndef DYNAMICS_TESTS_NATS_SERVER_H
#define DYNAMICS_TESTS_NATS_SERVER_H

#include <sys/types.h>

typedef struct nats_server {
    pid_t process;
    int port;
    char url[64];       /* "nats://127.0.0.1:PORT" */
    char directory[64]; /* of its configuration and its log */
    char configuration[2048];
} nats_server;

/* Starts the server at a port that the system chooses, and waits until it accepts connections. A failure ends the Check
 * test. */
void nats_server_start(nats_server *server);

/* Starts the server like nats_server_start, with these lines of its configuration instead of JetStream. */
void nats_server_start_with(nats_server *server, const char *configuration);

/* Kills the server, and starts it again at the same port. */
void nats_server_restart(nats_server *server);

/* Ends the server and removes its directory. */
void nats_server_stop(nats_server *server);

#endif
