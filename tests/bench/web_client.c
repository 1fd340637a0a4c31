/* SPDX-License-Identifier: BSD-2-Clause */
#include "web_client.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "child.h"

enum { BUFFER = 1 << 20 };

/* Opcodes of WebSocket frames. */
enum { TEXT = 1, BINARY = 2, PING = 9, PONG = 10 };

struct web_client {
    int socket;
    size_t start, end; /* bytes that were read and not yet returned */
    unsigned char buffer[BUFFER];
};

static void fill(web_client *from) {
    if (from->end == BUFFER) {
        memmove(from->buffer, from->buffer + from->start, from->end - from->start);
        from->end -= from->start;
        from->start = 0;
    }
    ssize_t size = recv(from->socket, from->buffer + from->end, BUFFER - from->end, 0);
    if (size <= 0) {
        die("the gateway closed the connection");
    }
    from->end += (size_t)size;
}

static void send_all(web_client *to, const void *bytes, size_t size) {
    if (send(to->socket, bytes, size, MSG_NOSIGNAL) != (ssize_t)size) {
        die("the gateway does not take a message");
    }
}

web_client *web_client_connect(unsigned port) {
    static const char request[] = "GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                                  "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n";
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    web_client *self = calloc(1, sizeof *self);
    int on = 1;
    if (!self || (self->socket = socket(AF_INET, SOCK_STREAM, 0)) < 0 ||
        connect(self->socket, (const struct sockaddr *)&address, sizeof address) != 0) {
        die("the gateway cannot be reached at port %u", port);
    }
    setsockopt(self->socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    send_all(self, request, sizeof request - 1);
    const unsigned char *end = NULL;
    while (!end) {
        fill(self);
        end = memmem(self->buffer, self->end, "\r\n\r\n", 4);
    }
    if (!memmem(self->buffer, self->end, " 101 ", 5)) {
        die("the gateway refuses the connection");
    }
    self->start = (size_t)(end - self->buffer) + 4;
    return self;
}

void web_client_close(web_client *closed) {
    close(closed->socket);
    free(closed);
}

/* Sends a message of at most 65535 bytes in one frame. A client must mask its frames; a key of zeros leaves the bytes
 * unchanged. */
static void send_frame(web_client *to, unsigned char opcode, const void *payload, size_t size) {
    unsigned char frame[16 + 65536] = {0x80 | opcode, (unsigned char)(0x80 | (size < 126 ? size : 126))};
    size_t head = size < 126 ? 6 : 8;
    if (size > 65535) {
        die("a message of %zu bytes", size);
    }
    if (size >= 126) {
        frame[2] = (unsigned char)(size >> 8);
        frame[3] = (unsigned char)size;
    }
    memcpy(frame + head, payload, size);
    send_all(to, frame, head + size);
}

void web_client_send(web_client *to, const char *text, size_t size) {
    send_frame(to, TEXT, text, size);
}

static void need(web_client *from, size_t size) {
    while (from->end - from->start < size) {
        fill(from);
    }
}

const char *web_client_receive(web_client *from, size_t *size) {
    for (;;) {
        need(from, 2);
        unsigned opcode = from->buffer[from->start] & 15;
        size_t length = from->buffer[from->start + 1], head = 2;
        if (length == 126) {
            need(from, 4);
            length = (size_t)from->buffer[from->start + 2] << 8 | from->buffer[from->start + 3];
            head = 4;
        }
        need(from, head + length);
        unsigned char *message = from->buffer + from->start + head;
        from->start += head + length;
        if (opcode == PING) {
            send_frame(from, PONG, message, length);
        }
        if (opcode == TEXT || opcode == BINARY) {
            *size = length;
            return (const char *)message;
        }
    }
}
