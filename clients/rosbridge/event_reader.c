/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Receives the daemon's events over nng and passes them to the event loop.
 */
#include "event_reader.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <nng/nng.h>
#include <nng/protocol/pubsub0/sub.h>

/* WAITING: messages that wait for the event loop; beyond it the oldest are dropped. RECONNECT_MIN, RECONNECT_MAX:
 * pauses before reconnecting, in ms. */
enum { WAITING = 4096, RECONNECT_MIN = 50, RECONNECT_MAX = 1000 };

struct event_reader {
    bridge *bridge;
    event_handler handle;
    void *user;
    nng_socket socket;
    nng_aio *aio;
    uv_async_t wake;
    pthread_mutex_t mutex; /* guards the fields below */
    nng_msg *waiting[WAITING];
    size_t first, count, dropped;
};

/* Queues a message for the event loop; if the queue is full, drops its oldest message. Runs on a thread of nng. */
static void on_message(void *user) {
    event_reader *reader = user;
    if (nng_aio_result(reader->aio) != 0) {
        return;
    }
    nng_msg *message = nng_aio_get_msg(reader->aio);
    pthread_mutex_lock(&reader->mutex);
    if (reader->count == WAITING) {
        nng_msg_free(reader->waiting[reader->first]);
        reader->first = (reader->first + 1) % WAITING;
        reader->count--;
        reader->dropped++;
    }
    reader->waiting[(reader->first + reader->count++) % WAITING] = message;
    pthread_mutex_unlock(&reader->mutex);
    uv_async_send(&reader->wake);
    nng_recv_aio(reader->socket, reader->aio);
}

static nng_msg *next_message(event_reader *reader) {
    nng_msg *message = NULL;
    pthread_mutex_lock(&reader->mutex);
    reader->bridge->metrics.counters[COUNTER_EVENTS_LOST] += reader->dropped;
    reader->dropped = 0;
    if (reader->count > 0) {
        message = reader->waiting[reader->first];
        reader->first = (reader->first + 1) % WAITING;
        reader->count--;
    }
    pthread_mutex_unlock(&reader->mutex);
    return message;
}

/* Passes the queued events to the handler. Runs on the event loop. A message is a topic, a zero byte and an Event;
 * other messages are dropped. */
static void on_wake(uv_async_t *handle) {
    event_reader *reader = handle->data;
    for (nng_msg *message = next_message(reader); message; message = next_message(reader)) {
        const uint8_t *bytes = nng_msg_body(message);
        const uint8_t *end = memchr(bytes, '\0', nng_msg_len(message));
        size_t topic = end ? (size_t)(end - bytes) + 1 : 0;
        Dynamics__V1__Event *event =
            topic > 0 ? dynamics__v1__event__unpack(NULL, nng_msg_len(message) - topic, bytes + topic) : NULL;
        reader->bridge->metrics.counters[COUNTER_EVENTS]++;
        if (event) {
            reader->handle(reader->user, (const char *)bytes, event);
            dynamics__v1__event__free_unpacked(event, NULL);
        }
        nng_msg_free(message);
    }
}

/* Subscribes to one topic. The zero byte at its end excludes longer topics that begin with it. */
static int subscribe(event_reader *reader, const char *topic) {
    return nng_socket_set(reader->socket, NNG_OPT_SUB_SUBSCRIBE, topic, strlen(topic) + 1);
}

/* Subscribes to all topics that begin with the prefix. */
static int subscribe_all(event_reader *reader, const char *prefix) {
    return nng_socket_set(reader->socket, NNG_OPT_SUB_SUBSCRIBE, prefix, strlen(prefix));
}

static int dial(event_reader *reader, const char *address) {
    nng_dialer dialer;
    if (nng_dialer_create(&dialer, reader->socket, address) != 0) {
        return 0;
    }
    nng_dialer_set_ms(dialer, NNG_OPT_RECONNMINT, RECONNECT_MIN);
    nng_dialer_set_ms(dialer, NNG_OPT_RECONNMAXT, RECONNECT_MAX);
    return nng_dialer_start(dialer, NNG_FLAG_NONBLOCK) == 0 ? nng_dialer_id(dialer) : 0;
}

event_reader *event_reader_start(bridge *of, const char *address, event_handler handle, void *user) {
    event_reader *reader = calloc(1, sizeof *reader);
    if (!reader || nng_sub0_open(&reader->socket) != 0) {
        free(reader);
        return NULL;
    }
    reader->bridge = of;
    reader->handle = handle;
    reader->user = user;
    pthread_mutex_init(&reader->mutex, NULL);
    uv_async_init(of->loop, &reader->wake, on_wake);
    reader->wake.data = reader;
    nng_socket_set_int(reader->socket, NNG_OPT_RECVBUF, 1024);
    nng_socket_set_size(reader->socket, NNG_OPT_RECVMAXSZ, (size_t)64 << 20);
    if (nng_aio_alloc(&reader->aio, on_message, reader) == 0 && subscribe(reader, "models") == 0 &&
        subscribe_all(reader, "progress/") == 0 && dial(reader, address) != 0) {
        nng_recv_aio(reader->socket, reader->aio);
        return reader;
    }
    event_reader_stop(reader);
    return NULL;
}

int event_reader_watch(event_reader *reader, const char *address, const char *const topics[2]) {
    for (int i = 0; i < 2; i++) {
        subscribe(reader, topics[i]);
    }
    return dial(reader, address);
}

void event_reader_forget(event_reader *reader, int number, const char *const topics[2]) {
    for (int i = 0; i < 2; i++) {
        nng_socket_set(reader->socket, NNG_OPT_SUB_UNSUBSCRIBE, topics[i], strlen(topics[i]) + 1);
    }
    nng_dialer_close((nng_dialer){.id = (uint32_t)number});
}

static void on_closed(uv_handle_t *handle) {
    event_reader *reader = handle->data;
    pthread_mutex_destroy(&reader->mutex);
    free(reader);
}

void event_reader_stop(event_reader *stopped) {
    /* Freeing the aio waits for nng's timer, which would otherwise look for the closed socket. */
    if (stopped->aio) {
        nng_aio_stop(stopped->aio);
        nng_aio_free(stopped->aio);
    }
    nng_close(stopped->socket);
    for (nng_msg *left = next_message(stopped); left; left = next_message(stopped)) {
        nng_msg_free(left);
    }
    uv_close((uv_handle_t *)&stopped->wake, on_closed);
}
