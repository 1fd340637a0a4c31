/* SPDX-License-Identifier: BSD-2-Clause */
#include "raw_client.h"

#include <stdlib.h>
#include <string.h>

#include <nng/nng.h>
#include <nng/protocol/reqrep0/req.h>

#include "child.h"

struct raw_client {
    nng_socket socket;
    nng_ctx context;
    nng_aio *operation;
};

static void require(int code) {
    if (code != 0) {
        die("request: %s", nng_strerror(code));
    }
}

raw_client *raw_client_connect(const char *address) {
    raw_client *c = calloc(1, sizeof *c);
    if (!c) {
        die("out of memory");
    }
    require(nng_req0_open(&c->socket));
    require(nng_dial(c->socket, address, NULL, 0));
    require(nng_ctx_open(&c->context, c->socket));
    require(nng_aio_alloc(&c->operation, NULL, NULL));
    nng_aio_set_timeout(c->operation, 10000);
    return c;
}

void raw_client_close(raw_client *c) {
    nng_ctx_close(c->context);
    nng_aio_free(c->operation);
    nng_close(c->socket);
    free(c);
}

size_t raw_client_call(raw_client *c, const void *request, size_t size, void *reply, size_t capacity) {
    nng_msg *message = NULL;
    require(nng_msg_alloc(&message, size));
    memcpy(nng_msg_body(message), request, size);
    nng_aio_set_msg(c->operation, message);
    nng_ctx_send(c->context, c->operation);
    nng_aio_wait(c->operation);
    require(nng_aio_result(c->operation));
    nng_ctx_recv(c->context, c->operation);
    nng_aio_wait(c->operation);
    require(nng_aio_result(c->operation));
    message = nng_aio_get_msg(c->operation);
    size_t length = nng_msg_len(message);
    if (reply) {
        memcpy(reply, nng_msg_body(message), length < capacity ? length : capacity);
    }
    nng_msg_free(message);
    return length;
}
