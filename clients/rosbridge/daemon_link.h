/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The connection to the daemon, made when it is first needed and again when it was lost.
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
    dyn_client_error failure; /* of that attempt */
} daemon_link;

void daemon_link_init(daemon_link *link, const char *address);

/* Ends all calls under way and to come, for the gateway is to end while the daemon may not answer. */
void daemon_link_abort(daemon_link *link);

/* No call may be under way. */
void daemon_link_close(daemon_link *link);

/* The client, from any thread; NULL: `error` says why there is none. */
dyn_client *daemon_link_get(daemon_link *link, dyn_client_error *error);

#endif
