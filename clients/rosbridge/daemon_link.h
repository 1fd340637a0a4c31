/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Connection to the daemon, opened by the first call and opened again after a loss.
 */
#ifndef ROSBRIDGE_DAEMON_LINK_H
#define ROSBRIDGE_DAEMON_LINK_H

#include <pthread.h>
#include <stdatomic.h>

#include <dynamics_client.h>

struct daemon_client;

typedef struct daemon_link {
    const char *address;
    const char *token; /* of the gateway at the daemon; "": none */
    pthread_mutex_t mutex;
    struct daemon_client *clients; /* the current one first, if there is one, and those that are still used */
    atomic_bool is_aborted;
    double last_attempt;
    dyn_client_error failure; /* error of the last attempt */
} daemon_link;

void daemon_link_init(daemon_link *link, const char *address, const char *token);

/* Aborts running and later calls, so that the gateway can stop although the daemon does not answer. */
void daemon_link_abort(daemon_link *link);

/* Closes the connection. No call may be running. */
void daemon_link_close(daemon_link *link);

/* Returns the client, for use until daemon_link_put, and connects it first if necessary. On failure returns NULL and
 * writes `error`, which is that of the last attempt. Any thread may call it. */
dyn_client *daemon_link_get(daemon_link *link, dyn_client_error *error);

/* Ends a use of the client (NULL: none). `failure` is the error of a call, or NULL. The next use connects to another
 * daemon where it says that the one behind a NATS server is gone. */
void daemon_link_put(daemon_link *link, dyn_client *client, const dyn_client_error *failure);

/* Returns whether daemon_link_get returns this client. */
bool daemon_link_is_current(daemon_link *link, const dyn_client *client);

#endif
