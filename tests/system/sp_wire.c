/* SPDX-License-Identifier: BSD-2-Clause */
/* Speaks the wire protocol of nng over plain sockets. */
#include "system/sp_wire.h"

#include <arpa/inet.h>
#include <check.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

/* Largest reply in bytes; a longer one is an error of the daemon. */
enum { MAX_REPLY = 512 << 20 };

static const double GREETING_SECONDS = 5;

double sp_now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

void sp_pause(double seconds) {
    struct timespec time = {.tv_sec = (time_t)seconds, .tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9)};
    nanosleep(&time, NULL);
}

static int connect_ipc(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (descriptor >= 0 && connect(descriptor, (struct sockaddr *)&address, sizeof address) != 0) {
        close(descriptor);
        return -1;
    }
    return descriptor;
}

static int connect_tcp(const char *host_and_port, const char *from) {
    unsigned port = 0;
    int no_delay = 1;
    struct sockaddr_in local = {.sin_family = AF_INET, .sin_addr.s_addr = inet_addr(from)};
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    ck_assert_int_eq(sscanf(host_and_port, "127.0.0.1:%u", &port), 1);
    address.sin_port = htons((uint16_t)port);
    int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (descriptor >= 0 && (bind(descriptor, (struct sockaddr *)&local, sizeof local) != 0 ||
                            connect(descriptor, (struct sockaddr *)&address, sizeof address) != 0)) {
        close(descriptor);
        return -1;
    }
    if (descriptor >= 0) {
        setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &no_delay, sizeof no_delay);
    }
    return descriptor;
}

sp_peer sp_try_connect(const char *url) {
    bool is_ipc = strncmp(url, "ipc://", 6) == 0;
    return (sp_peer){.descriptor = is_ipc ? connect_ipc(url + 6) : connect_tcp(url + 6, "0.0.0.0"), .is_ipc = is_ipc};
}

sp_peer sp_connect_from(const char *url, const char *from) {
    sp_peer peer = {.descriptor = connect_tcp(url + 6, from)};
    ck_assert_msg(peer.descriptor >= 0, "%s from %s: %s", url, from, strerror(errno));
    return peer;
}

sp_peer sp_connect(const char *url) {
    sp_peer peer = sp_try_connect(url);
    ck_assert_msg(peer.descriptor >= 0, "%s: %s", url, strerror(errno));
    return peer;
}

void sp_close(sp_peer *peer) {
    if (peer->descriptor >= 0) {
        close(peer->descriptor);
    }
    peer->descriptor = -1;
}

void sp_greeting(uint16_t protocol, uint8_t greeting[SP_GREETING_SIZE]) {
    const uint8_t bytes[SP_GREETING_SIZE] = {0, 'S', 'P', 0, (uint8_t)(protocol >> 8), (uint8_t)protocol, 0, 0};
    memcpy(greeting, bytes, sizeof bytes);
}

/* Reads exactly `size` bytes, until the time `end` of sp_now. Returns SP_MESSAGE when all have arrived. */
static sp_result read_bytes(const sp_peer *peer, double end, void *bytes, size_t size) {
    uint8_t *to = bytes;
    while (size > 0) {
        double left = end - sp_now();
        struct pollfd readable = {.fd = peer->descriptor, .events = POLLIN};
        if (left <= 0 || poll(&readable, 1, (int)(left * 1000) + 1) == 0) {
            return SP_TIMEOUT;
        }
        ssize_t count = recv(peer->descriptor, to, size, 0);
        if (count <= 0 && errno != EINTR) {
            return SP_CLOSED;
        }
        if (count > 0) {
            to += count;
            size -= (size_t)count;
        }
    }
    return SP_MESSAGE;
}

bool sp_send_bytes(const sp_peer *peer, const void *bytes, size_t size) {
    const uint8_t *from = bytes;
    while (size > 0) {
        ssize_t count = send(peer->descriptor, from, size, MSG_NOSIGNAL);
        if (count < 0 && errno != EINTR) {
            return false;
        }
        if (count > 0) {
            from += count;
            size -= (size_t)count;
        }
    }
    return true;
}

bool sp_greet(sp_peer *peer, uint16_t protocol, double seconds) {
    uint8_t ours[SP_GREETING_SIZE], theirs[SP_GREETING_SIZE];
    double end = sp_now() + seconds;
    sp_greeting(protocol, ours);
    if (!sp_send_bytes(peer, ours, sizeof ours) || read_bytes(peer, end, theirs, sizeof theirs) != SP_MESSAGE ||
        memcmp(theirs, "\0SP\0", 4) != 0) {
        sp_close(peer);
        return false;
    }
    return true;
}

bool sp_try_open(const char *url, uint16_t protocol, double seconds, sp_peer *peer) {
    *peer = sp_try_connect(url);
    return peer->descriptor >= 0 && sp_greet(peer, protocol, seconds);
}

sp_peer sp_open(const char *url, uint16_t protocol) {
    sp_peer peer;
    ck_assert_msg(sp_try_open(url, protocol, GREETING_SECONDS, &peer), "%s does not greet", url);
    return peer;
}

size_t sp_head(const sp_peer *peer, uint64_t size, uint8_t head[SP_MAX_HEAD]) {
    size_t length = 0;
    if (peer->is_ipc) {
        head[length++] = 1;
    }
    for (int shift = 56; shift >= 0; shift -= 8) {
        head[length++] = (uint8_t)(size >> shift);
    }
    return length;
}

bool sp_send_request(const sp_peer *peer, uint32_t number, const void *body, size_t size) {
    uint8_t head[SP_MAX_HEAD + 4];
    size_t length = sp_head(peer, size + 4, head);
    uint32_t marked = htonl(number | 0x80000000u);
    memcpy(head + length, &marked, 4);
    return sp_send_bytes(peer, head, length + 4) && sp_send_bytes(peer, body, size);
}

sp_result sp_receive(const sp_peer *peer, double seconds, uint8_t **body, size_t *size) {
    uint8_t head[SP_MAX_HEAD];
    double end = sp_now() + seconds;
    uint64_t length = 0;
    *body = NULL;
    sp_result result = read_bytes(peer, end, head, peer->is_ipc ? 9 : 8);
    if (result != SP_MESSAGE) {
        return result;
    }
    for (int i = 0; i < 8; i++) {
        length = length << 8 | head[(peer->is_ipc ? 1 : 0) + i];
    }
    ck_assert_msg(length <= MAX_REPLY, "a message of %llu bytes", (unsigned long long)length);
    *size = (size_t)length;
    *body = malloc(*size + 1);
    ck_assert_ptr_nonnull(*body);
    result = read_bytes(peer, end, *body, *size);
    if (result != SP_MESSAGE) {
        free(*body);
        *body = NULL;
    }
    return result;
}

sp_result sp_receive_reply(const sp_peer *peer, double seconds, uint32_t *number, uint8_t **body, size_t *size) {
    uint32_t marked;
    sp_result result = sp_receive(peer, seconds, body, size);
    if (result != SP_MESSAGE) {
        return result;
    }
    ck_assert_msg(*size >= sizeof marked, "a reply of %zu bytes", *size);
    memcpy(&marked, *body, sizeof marked);
    *number = ntohl(marked) & 0x7fffffffu;
    *size -= sizeof marked;
    memmove(*body, *body + sizeof marked, *size);
    return result;
}

bool sp_is_closed_within(const sp_peer *peer, double seconds) {
    double end = sp_now() + seconds;
    uint8_t byte;
    sp_result result;
    do {
        result = read_bytes(peer, end, &byte, 1);
    } while (result == SP_MESSAGE);
    return result == SP_CLOSED;
}
