/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Connection to the daemon, opened by the first call and opened again after a loss.
 */
#ifndef ROSBRIDGE_DAEMON_LINK_H
#define ROSBRIDGE_DAEMON_LINK_H

#include <pthread.h>
#include <stdatomic.h>

#include <dynamics_client.h>

typedef struct daemon_link {
    const char *address;
    pthread_mutex_t mutex;
    dyn_client *client; /* NULL: not yet */
    atomic_bool is_aborted;
    double last_attempt;
    dyn_client_error failure; /* error of the last attempt */
} daemon_link;

void daemon_link_init(daemon_link *link, const char *address);

/* Aborts running and later calls, so that the gateway can stop although the daemon does not answer. */
void daemon_link_abort(daemon_link *link);

/* Closes the connection. No call may be running. */
void daemon_link_close(daemon_link *link);

/* Returns the client and connects it first if necessary. On failure returns NULL and writes `error`, which is that of
 * the last attempt. Any thread may call it. */
dyn_client *daemon_link_get(daemon_link *link, dyn_client_error *error);

#endif
