/* SPDX-License-Identifier: BSD-2-Clause */
/* Receives the daemon's events over nng. */
#include "nng_events.h"

#include <stdlib.h>
#include <string.h>

#include <nng/nng.h>
#include <nng/protocol/pubsub0/sub.h>

#include "nng_dialer.h"

/* Pauses before reconnecting, in ms. */
enum { RECONNECT_MIN = 50, RECONNECT_MAX = 1000 };

struct nng_events {
    event_queue *queue;
    const char *settings; /* address whose files are used for TLS */
    nng_socket socket;
    nng_aio *aio;
};

static void free_message(void *message) {
    nng_msg_free(message);
}

/* Queues a message. Runs on a thread of nng. */
static void on_message(void *user) {
    nng_events *self = user;
    if (nng_aio_result(self->aio) != 0) {
        return;
    }
    nng_msg *message = nng_aio_get_msg(self->aio);
    event_queue_put(self->queue, &(event_message){.bytes = nng_msg_body(message),
                                                  .size = nng_msg_len(message),
                                                  .owner = message,
                                                  .release = free_message});
    nng_recv_aio(self->socket, self->aio);
}

/* Subscribes to one topic. The zero byte at its end excludes longer topics that begin with it. */
static int subscribe(nng_events *self, const char *topic) {
    return nng_socket_set(self->socket, NNG_OPT_SUB_SUBSCRIBE, topic, strlen(topic) + 1);
}

/* Subscribes to all topics that begin with the prefix. */
static int subscribe_all(nng_events *self, const char *prefix) {
    return nng_socket_set(self->socket, NNG_OPT_SUB_SUBSCRIBE, prefix, strlen(prefix));
}

static int dial(nng_events *self, const char *address) {
    nng_dialer dialer;
    char reason[NNG_DIALER_REASON];
    if (nng_dialer_make(self->socket, address, self->settings, &dialer, reason) != 0) {
        return 0;
    }
    nng_dialer_set_ms(dialer, NNG_OPT_RECONNMINT, RECONNECT_MIN);
    nng_dialer_set_ms(dialer, NNG_OPT_RECONNMAXT, RECONNECT_MAX);
    return nng_dialer_start(dialer, NNG_FLAG_NONBLOCK) == 0 ? nng_dialer_id(dialer) : 0;
}

nng_events *nng_events_start(event_queue *queue, const char *address, const char *settings) {
    nng_events *self = calloc(1, sizeof *self);
    if (!self || nng_sub0_open(&self->socket) != 0) {
        free(self);
        return NULL;
    }
    self->queue = queue;
    self->settings = settings;
    nng_socket_set_int(self->socket, NNG_OPT_RECVBUF, 1024);
    nng_socket_set_size(self->socket, NNG_OPT_RECVMAXSZ, (size_t)64 << 20);
    if (nng_aio_alloc(&self->aio, on_message, self) == 0 && subscribe(self, "models") == 0 &&
        subscribe_all(self, "progress/") == 0 && dial(self, address) != 0) {
        nng_recv_aio(self->socket, self->aio);
        return self;
    }
    nng_events_stop(self);
    return NULL;
}

int nng_events_watch(nng_events *of, const char *address, const char *const topics[2]) {
    for (int i = 0; i < 2; i++) {
        subscribe(of, topics[i]);
    }
    return dial(of, address);
}

void nng_events_forget(nng_events *of, int number, const char *const topics[2]) {
    for (int i = 0; i < 2; i++) {
        nng_socket_set(of->socket, NNG_OPT_SUB_UNSUBSCRIBE, topics[i], strlen(topics[i]) + 1);
    }
    nng_dialer_close((nng_dialer){.id = (uint32_t)number});
}

void nng_events_stop(nng_events *stopped) {
    /* Freeing the aio waits for nng's timer, which would otherwise look for the closed socket. */
    if (stopped->aio) {
        nng_aio_stop(stopped->aio);
        nng_aio_free(stopped->aio);
    }
    nng_close(stopped->socket);
    free(stopped);
}
