/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Peer that answers each request with bytes that the test chooses.
 */
#include "system/lying_peer.h"

#include <arpa/inet.h>
#include <check.h>
#include <endian.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>

enum {
    HEADER = 12, /* length of 8 bytes, request id of 4 */
    MAX_VARINT = 10,
    CLIENTS = 16 /* connections at the same time */
};

static bool receive_all(int connection, void *to, size_t size) {
    return recv(connection, to, size, MSG_WAITALL) == (ssize_t)size;
}

static bool send_all(int connection, const void *from, size_t size) {
    return send(connection, from, size, MSG_NOSIGNAL) == (ssize_t)size;
}

/* Copies key (0x08) and value of the field id, with which a Request begins; returns their length, or 0 where the
 * request has no id. */
static size_t copy_id(const uint8_t *request, size_t size, uint8_t id[MAX_VARINT + 1]) {
    size_t length = 1;
    if (size < 2 || request[0] != 0x08) {
        return 0;
    }
    while (length < size && length < MAX_VARINT && (request[length] & 0x80) != 0) {
        length++;
    }
    memcpy(id, request, length + 1);
    return length + 1;
}

/* Sends the reply to a request; `header` is the request's. Returns false where the connection is closed. */
static bool send_reply(lying_peer *peer, int connection, uint8_t header[HEADER], const uint8_t *request, size_t size) {
    uint8_t id[MAX_VARINT + 1];
    pthread_mutex_lock(&peer->mutex);
    if (peer->compose) {
        peer->compose(peer, request, size);
    }
    size_t id_size = peer->with_id ? copy_id(request, size, id) : 0;
    uint64_t length = htobe64(4 + peer->reply_size + id_size);
    memcpy(header, &length, sizeof length);
    /* One write sends the whole message; TCP would delay the second of two. */
    struct iovec parts[] = {{header, HEADER}, {peer->reply, peer->reply_size}, {id, id_size}};
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = 3};
    ssize_t whole = (ssize_t)(HEADER + peer->reply_size + id_size);
    bool is_sent = sendmsg(connection, &message, MSG_NOSIGNAL) == whole;
    pthread_mutex_unlock(&peer->mutex);
    return is_sent;
}

/* Reads a request and sends the reply. Returns false where the connection is closed or the request too long. */
static bool answer(lying_peer *peer, int connection) {
    uint8_t header[HEADER], request[1 << 16];
    uint64_t length;
    if (!receive_all(connection, header, HEADER)) {
        return false;
    }
    memcpy(&length, header, sizeof length);
    size_t size = (size_t)be64toh(length) - 4;
    if (size > sizeof request || !receive_all(connection, request, size)) {
        return false;
    }
    return send_reply(peer, connection, header, request, size);
}

/* Accepts a connection and exchanges the greetings of two sockets. Drops a client that does not greet within a second,
 * and one beyond CLIENTS. Returns false where the peer stops. */
static bool admit(const lying_peer *peer, struct pollfd *open, nfds_t *count) {
    static const uint8_t hello[] = {0, 'S', 'P', 0, 0, 0x31, 0, 0}; /* of a REP socket */
    static const struct timeval patience = {.tv_sec = 1};
    uint8_t theirs[sizeof hello];
    int connection = accept(peer->listener, NULL, NULL);
    if (connection < 0) {
        return false;
    }
    if (*count <= CLIENTS && setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) == 0 &&
        send_all(connection, hello, sizeof hello) && receive_all(connection, theirs, sizeof theirs)) {
        open[(*count)++] = (struct pollfd){.fd = connection, .events = POLLIN};
    } else {
        close(connection);
    }
    return true;
}

static void *serve(void *argument) {
    lying_peer *peer = argument;
    struct pollfd open[1 + CLIENTS] = {{.fd = peer->listener, .events = POLLIN}};
    nfds_t count = 1;
    while (poll(open, count, -1) >= 0) {
        for (nfds_t i = count; --i > 0;) {
            if (open[i].revents && !answer(peer, open[i].fd)) {
                close(open[i].fd);
                open[i] = open[--count];
            }
        }
        if (open[0].revents && !admit(peer, open, &count)) {
            break;
        }
    }
    while (--count > 0) {
        close(open[count].fd);
    }
    return NULL;
}

void lying_peer_start(lying_peer *peer) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    peer->reply_size = 0;
    peer->with_id = 1;
    ck_assert_int_eq(pthread_mutex_init(&peer->mutex, NULL), 0);
    peer->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ck_assert_int_ge(peer->listener, 0);
    ck_assert_int_eq(bind(peer->listener, (struct sockaddr *)&address, size), 0);
    ck_assert_int_eq(listen(peer->listener, 8), 0);
    ck_assert_int_eq(getsockname(peer->listener, (struct sockaddr *)&address, &size), 0);
    snprintf(peer->address, sizeof peer->address, "tcp://127.0.0.1:%u", ntohs(address.sin_port));
    ck_assert_int_eq(pthread_create(&peer->thread, NULL, serve, peer), 0);
}

void lying_peer_stop(lying_peer *peer) {
    shutdown(peer->listener, SHUT_RDWR);
    pthread_join(peer->thread, NULL);
    close(peer->listener);
    pthread_mutex_destroy(&peer->mutex);
}

void lying_peer_publish(lying_peer *peer) {
    pthread_mutex_lock(&peer->mutex);
    pthread_mutex_unlock(&peer->mutex);
}
