/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Peer that accepts connections and never answers.
 */
#include "system/silent_peer.h"

#include <arpa/inet.h>
#include <check.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* Returns whether the next connection is to be turned away. */
static bool turns_away(silent_peer *peer) {
    bool is_turned_away = atomic_load(&peer->turned_away) > 0;
    if (is_turned_away) {
        atomic_fetch_sub(&peer->turned_away, 1);
    }
    return is_turned_away;
}

/* Serves one connection after the other until the listener is shut down. */
static void *serve(void *argument) {
    static const unsigned char hello[] = {0, 'S', 'P', 0, 0, 0x31, 0, 0}; /* of a REP socket */
    silent_peer *peer = argument;
    int connection;
    while ((connection = accept(peer->listener, NULL, NULL)) >= 0) {
        char buffer[4096];
        if (turns_away(peer)) {
            if (peer->path[0] == '\0') {
                recv(connection, buffer, sizeof hello, MSG_WAITALL);
            }
        } else if (send(connection, hello, sizeof hello, MSG_NOSIGNAL) == (ssize_t)sizeof hello) {
            atomic_store(&peer->connection, connection);
            while (recv(connection, buffer, sizeof buffer, 0) > 0) {
                continue;
            }
            atomic_store(&peer->connection, -1);
        }
        close(connection);
    }
    return NULL;
}

/* Binds, listens and starts the thread. */
static void start(silent_peer *peer, struct sockaddr *address, socklen_t size, int turned_away) {
    atomic_store(&peer->connection, -1);
    atomic_store(&peer->turned_away, turned_away);
    peer->listener = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ck_assert_int_ge(peer->listener, 0);
    ck_assert_int_eq(bind(peer->listener, address, size), 0);
    ck_assert_int_eq(listen(peer->listener, 8), 0);
    ck_assert_int_eq(getsockname(peer->listener, address, &size), 0);
    ck_assert_int_eq(pthread_create(&peer->thread, NULL, serve, peer), 0);
}

void silent_peer_start(silent_peer *peer) {
    silent_peer_start_after(peer, 0);
}

void silent_peer_start_after(silent_peer *peer, int turned_away) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    peer->path[0] = '\0';
    start(peer, (struct sockaddr *)&address, sizeof address, turned_away);
    snprintf(peer->address, sizeof peer->address, "tcp://127.0.0.1:%u", ntohs(address.sin_port));
}

void silent_peer_start_ipc_after(silent_peer *peer, int turned_away) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(peer->path, sizeof peer->path, "/tmp/dynamicsd-silent-%d", (int)getpid());
    snprintf(address.sun_path, sizeof address.sun_path, "%s", peer->path);
    unlink(peer->path);
    start(peer, (struct sockaddr *)&address, sizeof address, turned_away);
    snprintf(peer->address, sizeof peer->address, "ipc://%s", peer->path);
}

void silent_peer_drop(silent_peer *peer, int turned_away) {
    atomic_store(&peer->turned_away, turned_away);
    shutdown(atomic_load(&peer->connection), SHUT_RDWR);
}

void silent_peer_stop(silent_peer *peer) {
    shutdown(peer->listener, SHUT_RDWR);
    pthread_join(peer->thread, NULL);
    close(peer->listener);
    if (peer->path[0] != '\0') {
        unlink(peer->path);
    }
}
