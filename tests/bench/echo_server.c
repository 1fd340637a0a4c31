/* SPDX-License-Identifier: BSD-2-Clause */
#include "echo_server.h"

#include <arpa/inet.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <nng/nng.h>
#include <nng/protocol/reqrep0/rep.h>

enum { CONTEXTS = 128 }; /* as in the daemon */

/* A context that alternately receives and sends. */
typedef struct echo {
    nng_ctx context;
    nng_aio *operation;
    size_t reply_size;
    bool is_sending;
} echo;

static void require(int code) {
    if (code != 0) {
        die("echo server: %s", nng_strerror(code));
    }
}

static void receive(echo *e) {
    e->is_sending = false;
    nng_ctx_recv(e->context, e->operation);
}

static void reply(echo *e) {
    nng_msg_free(nng_aio_get_msg(e->operation));
    nng_msg *message = NULL;
    require(nng_msg_alloc(&message, e->reply_size));
    memset(nng_msg_body(message), 1, e->reply_size);
    nng_aio_set_msg(e->operation, message);
    e->is_sending = true;
    nng_ctx_send(e->context, e->operation);
}

static void on_completion(void *argument) {
    echo *e = argument;
    if (nng_aio_result(e->operation) != 0 || e->is_sending) {
        receive(e);
    } else {
        reply(e);
    }
}

/* Prints the address of the tcp listener. */
static void print_address(nng_listener listener) {
    nng_sockaddr address;
    require(nng_listener_get_addr(listener, NNG_OPT_LOCADDR, &address));
    printf("tcp://127.0.0.1:%u\n", ntohs(address.s_in.sa_port));
    fflush(stdout);
}

_Noreturn void serve_echo(const char *ipc, size_t reply_size) {
    static echo echoes[CONTEXTS];
    nng_socket socket;
    nng_listener listener;
    require(nng_rep0_open(&socket));
    require(nng_listen(socket, ipc, NULL, 0));
    require(nng_listen(socket, "tcp://127.0.0.1:0", &listener, 0));
    for (int i = 0; i < CONTEXTS; i++) {
        echoes[i].reply_size = reply_size;
        require(nng_ctx_open(&echoes[i].context, socket));
        require(nng_aio_alloc(&echoes[i].operation, on_completion, &echoes[i]));
        receive(&echoes[i]);
    }
    print_address(listener);
    for (;;) {
        pause();
    }
}

void echo_server_start(size_t reply_size, echo_server *e) {
    char self[PATH_MAX], size[32];
    *e = (echo_server){0};
    make_directory(e->directory);
    snprintf(e->ipc, sizeof e->ipc, "ipc://%s/echo", e->directory);
    snprintf(size, sizeof size, "%zu", reply_size);
    own_path(self, sizeof self);
    const char *const arguments[] = {self, "--serve-echo", e->ipc, size, NULL};
    e->process = child_start(arguments, NULL);
    FILE *output = fdopen(dup(e->process.output), "r");
    if (!output || !fgets(e->tcp, sizeof e->tcp, output)) {
        die("the echo server does not start");
    }
    fclose(output);
    e->tcp[strcspn(e->tcp, "\n")] = '\0';
}

void echo_server_stop(echo_server *e) {
    child_stop(&e->process);
    remove_directory(e->directory);
}
