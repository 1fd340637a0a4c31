/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Opens the connection to the daemon and shares it among threads.
 */
#include "daemon_link.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Seconds between attempts to connect to a daemon that was never reached. Calls in between fail at once. */
static const double RETRY_INTERVAL = 0.25;

/* A client and its uses. */
typedef struct daemon_client {
    struct daemon_client *next;
    dyn_client *client;
    unsigned users;
    bool is_lost; /* closed after the last use */
} daemon_client;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

void daemon_link_init(daemon_link *link, const char *address, const char *token) {
    *link = (daemon_link){.address = address, .token = token, .last_attempt = -1};
    pthread_mutex_init(&link->mutex, NULL);
}

void daemon_link_abort(daemon_link *link) {
    pthread_mutex_lock(&link->mutex);
    link->is_aborted = true;
    for (daemon_client *each = link->clients; each; each = each->next) {
        dyn_client_abort(each->client);
    }
    pthread_mutex_unlock(&link->mutex);
}

void daemon_link_close(daemon_link *link) {
    while (link->clients) {
        daemon_client *closed = link->clients;
        link->clients = closed->next;
        dyn_client_close(closed->client);
        free(closed);
    }
    pthread_mutex_destroy(&link->mutex);
}

static daemon_client *current_client(const daemon_link *link) {
    return link->clients && !link->clients->is_lost ? link->clients : NULL;
}

/* Connects, and puts the client first. */
static void connect_client(daemon_link *link) {
    dyn_client_options options = DYN_CLIENT_OPTIONS_INIT(.max_reply_bytes = (size_t)256 << 20, .token = link->token);
    daemon_client *made = calloc(1, sizeof *made);
    link->failure = (dyn_client_error){.status = DYN_CLIENT_OUT_OF_MEMORY, .message = "out of memory"};
    if (made && dyn_client_connect(link->address, &options, &made->client, &link->failure) == DYN_CLIENT_OK) {
        made->next = link->clients;
        link->clients = made;
    } else {
        free(made);
    }
    link->last_attempt = now();
}

dyn_client *daemon_link_get(daemon_link *link, dyn_client_error *error) {
    pthread_mutex_lock(&link->mutex);
    if (!current_client(link) && !link->is_aborted && now() - link->last_attempt > RETRY_INTERVAL) {
        connect_client(link);
    }
    daemon_client *used = current_client(link);
    if (used) {
        used->users++;
    } else {
        *error = link->failure;
    }
    pthread_mutex_unlock(&link->mutex);
    return used ? used->client : NULL;
}

/* Removes the client from the list when it is lost and nobody uses it. Returns it then, else NULL. */
static daemon_client *remove_unused(daemon_client **place) {
    daemon_client *removed = *place;
    if (!removed->is_lost || removed->users > 0) {
        return NULL;
    }
    *place = removed->next;
    return removed;
}

void daemon_link_put(daemon_link *link, dyn_client *client, const dyn_client_error *failure) {
    if (!client) {
        return;
    }
    pthread_mutex_lock(&link->mutex);
    daemon_client **place = &link->clients;
    while ((*place)->client != client) {
        place = &(*place)->next;
    }
    (*place)->users--;
    (*place)->is_lost = (*place)->is_lost || (failure && strcmp(failure->reason, "DAEMON_GONE") == 0);
    daemon_client *unused = remove_unused(place);
    pthread_mutex_unlock(&link->mutex);
    if (unused) {
        dyn_client_close(unused->client);
        free(unused);
    }
}

bool daemon_link_is_current(daemon_link *link, const dyn_client *client) {
    pthread_mutex_lock(&link->mutex);
    const daemon_client *current = current_client(link);
    bool is_current = current && current->client == client && !link->is_aborted;
    pthread_mutex_unlock(&link->mutex);
    return is_current;
}
