/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Opens the connection to the daemon and shares it among threads.
 */
#include "daemon_link.h"

#include <time.h>

/* Seconds between attempts to connect to a daemon that was never reached. Calls in between fail at once. */
static const double RETRY_INTERVAL = 0.25;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

void daemon_link_init(daemon_link *link, const char *address) {
    *link = (daemon_link){.address = address, .last_attempt = -1};
    pthread_mutex_init(&link->mutex, NULL);
}

void daemon_link_abort(daemon_link *link) {
    pthread_mutex_lock(&link->mutex);
    link->is_aborted = true;
    dyn_client_abort(link->client);
    pthread_mutex_unlock(&link->mutex);
}

void daemon_link_close(daemon_link *link) {
    dyn_client_close(link->client);
    pthread_mutex_destroy(&link->mutex);
}

dyn_client *daemon_link_get(daemon_link *link, dyn_client_error *error) {
    pthread_mutex_lock(&link->mutex);
    if (!link->client && !link->is_aborted && now() - link->last_attempt > RETRY_INTERVAL) {
        dyn_client_options options = DYN_CLIENT_OPTIONS_INIT(.max_reply_bytes = (size_t)256 << 20);
        dyn_client_connect(link->address, &options, &link->client, &link->failure);
        link->last_attempt = now();
    }
    dyn_client *client = link->client;
    if (!client) {
        *error = link->failure;
    }
    pthread_mutex_unlock(&link->mutex);
    return client;
}
