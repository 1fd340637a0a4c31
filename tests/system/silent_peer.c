/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Peer that accepts connections and never answers.
 */
#include "system/silent_peer.h"

#include <arpa/inet.h>
#include <check.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

/* Serves one connection after the other until the listener is shut down. */
static void *serve(void *argument) {
    static const unsigned char hello[] = {0, 'S', 'P', 0, 0, 0x31, 0, 0}; /* of a REP socket */
    silent_peer *peer = argument;
    int connection;
    while ((connection = accept(peer->listener, NULL, NULL)) >= 0) {
        char buffer[4096];
        if (peer->turned_away > 0) {
            peer->turned_away--;
            recv(connection, buffer, sizeof hello, MSG_WAITALL);
        } else if (send(connection, hello, sizeof hello, MSG_NOSIGNAL) == (ssize_t)sizeof hello) {
            while (recv(connection, buffer, sizeof buffer, 0) > 0) {
                continue;
            }
        }
        close(connection);
    }
    return NULL;
}

void silent_peer_start(silent_peer *peer) {
    silent_peer_start_after(peer, 0);
}

void silent_peer_start_after(silent_peer *peer, int turned_away) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    peer->turned_away = turned_away;
    peer->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ck_assert_int_ge(peer->listener, 0);
    ck_assert_int_eq(bind(peer->listener, (struct sockaddr *)&address, size), 0);
    ck_assert_int_eq(listen(peer->listener, 8), 0);
    ck_assert_int_eq(getsockname(peer->listener, (struct sockaddr *)&address, &size), 0);
    snprintf(peer->address, sizeof peer->address, "tcp://127.0.0.1:%u", ntohs(address.sin_port));
    ck_assert_int_eq(pthread_create(&peer->thread, NULL, serve, peer), 0);
}

void silent_peer_stop(silent_peer *peer) {
    shutdown(peer->listener, SHUT_RDWR);
    pthread_join(peer->thread, NULL);
    close(peer->listener);
}
