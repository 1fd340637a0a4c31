/* SPDX-License-Identifier: BSD-2-Clause */
/* Opens an endpoint for a single topic, with a socket and addresses of its own, and publishes on it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <nng/nng.h>
#include <nng/protocol/pubsub0/pub.h>

#include "transport/carrier.h"

/* Largest number of messages that wait for one subscriber, and of their bytes. Beyond these bounds its oldest messages
 * are dropped. Two messages may always wait. */
enum { SUBSCRIBER_QUEUE = 128, SUBSCRIBER_QUEUE_BYTES = 1 << 20 };

struct transport_topic {
    transport *transport;
    nng_socket socket;
    atomic_uint subscribers;
    atomic_size_t largest; /* bytes of the largest message so far */
    atomic_size_t charged; /* bytes of the memory budget for the queue */
    listener *listeners;
    size_t listener_count;
};

static void on_pipe(nng_pipe pipe, nng_pipe_ev event, void *argument) {
    transport_topic *topic = argument;
    if (event == NNG_PIPE_EV_ADD_PRE) {
        if (admission_connect(topic->transport, pipe, TRANSPORT_EVENTS)) {
            atomic_fetch_add(&topic->subscribers, 1);
        }
    } else if (admission_disconnect(topic->transport, pipe)) {
        atomic_fetch_sub(&topic->subscribers, 1);
    }
}

/* Derives an address from the configured one: a path with a number, or a port that the system chooses. Returns false if
 * the address is too long. */
static bool derive_address(const char *configured, unsigned number, char address[TRANSPORT_ADDRESS_SIZE]) {
    int length;
    if (listener_ipc_path(configured)) {
        length = snprintf(address, TRANSPORT_ADDRESS_SIZE, "%s-%u", configured, number);
    } else {
        const char *colon = strrchr(configured, ':');
        length = snprintf(address, TRANSPORT_ADDRESS_SIZE, "%.*s:0", (int)(colon - configured), configured);
    }
    return length < TRANSPORT_ADDRESS_SIZE;
}

/* Listens at an address of its own for each configured endpoint of events. */
static bool listen_beside(transport_topic *topic, char error[TRANSPORT_ERROR_SIZE]) {
    transport *t = topic->transport;
    unsigned number = atomic_fetch_add(&t->topic_number, 1) + 1;
    for (size_t i = 0; i < t->endpoint_count; i++) {
        if (t->endpoints[i].listener.kind != TRANSPORT_EVENTS) {
            continue;
        }
        listener *l = &topic->listeners[topic->listener_count];
        *l = (listener){.kind = TRANSPORT_EVENTS, .mode = t->options.ipc_mode, .socket = topic->socket};
        if (!derive_address(t->options.endpoints[i].address, number, l->address)) {
            snprintf(error, TRANSPORT_ERROR_SIZE, "%.200s: the address is too long", t->options.endpoints[i].address);
            return false;
        }
        if (!listener_open(l, error)) {
            return false;
        }
        topic->listener_count++;
    }
    if (topic->listener_count == 0) {
        snprintf(error, TRANSPORT_ERROR_SIZE, "the daemon has no endpoint for events (endpoints.events)");
    }
    return topic->listener_count > 0;
}

static bool open_socket(transport_topic *topic, char error[TRANSPORT_ERROR_SIZE]) {
    int code = nng_pub0_open(&topic->socket);
    if (code != 0) {
        snprintf(error, TRANSPORT_ERROR_SIZE, "cannot open a socket: %s", nng_strerror(code));
        return false;
    }
    nng_socket_set_size(topic->socket, NNG_OPT_RECVMAXSZ, SUBSCRIBER_BYTES);
    nng_socket_set_int(topic->socket, NNG_OPT_SENDBUF, SUBSCRIBER_QUEUE);
    /* Lets the system detect a subscriber whose machine has vanished. */
    nng_socket_set_bool(topic->socket, NNG_OPT_TCP_KEEPALIVE, true);
    nng_pipe_notify(topic->socket, NNG_PIPE_EV_ADD_PRE, on_pipe, topic);
    nng_pipe_notify(topic->socket, NNG_PIPE_EV_REM_POST, on_pipe, topic);
    return true;
}

bool transport_topic_open(transport *t, char error[TRANSPORT_ERROR_SIZE], transport_topic **result) {
    transport_topic *topic = calloc(1, sizeof *topic);
    listener *listeners = calloc(t->endpoint_count, sizeof *listeners);
    if (!topic || !listeners) {
        free(topic);
        free(listeners);
        snprintf(error, TRANSPORT_ERROR_SIZE, "out of memory");
        return false;
    }
    topic->transport = t;
    topic->listeners = listeners;
    if (!open_socket(topic, error) || !listen_beside(topic, error)) {
        transport_topic_close(topic);
        return false;
    }
    *result = topic;
    return true;
}

size_t transport_topic_address_count(const transport_topic *topic) {
    return topic->listener_count;
}

const char *transport_topic_address(const transport_topic *topic, size_t i) {
    return topic->listeners[i].address;
}

unsigned transport_topic_subscribers(const transport_topic *topic) {
    return atomic_load(&topic->subscribers);
}

/* Resizes the queue for larger messages, and charges it. Slow subscribers share the queued messages: the queue exists
 * once, and each subscriber holds only the message that is being sent to it. */
static void fit_queue(transport_topic *topic, size_t size) {
    size_t largest = atomic_load_explicit(&topic->largest, memory_order_relaxed);
    if (size <= largest || !atomic_compare_exchange_strong(&topic->largest, &largest, size)) {
        return;
    }
    memory_budget *budget = topic->transport->options.budget;
    size_t fitting = SUBSCRIBER_QUEUE_BYTES / size;
    int queue = fitting > SUBSCRIBER_QUEUE ? SUBSCRIBER_QUEUE : fitting < 2 ? 2 : (int)fitting;
    size_t charged = (size_t)queue * size;
    memory_budget_add(budget, charged);
    memory_budget_release(budget, atomic_exchange(&topic->charged, charged));
    nng_socket_set_int(topic->socket, NNG_OPT_SENDBUF, queue);
}

void transport_topic_publish(transport_topic *topic, const char *name, const uint8_t *body, size_t size) {
    fit_queue(topic, size);
    if (publish(topic->socket, name, body, size)) {
        atomic_fetch_add(&topic->transport->options.counters->events, 1);
    }
}

void transport_topic_close(transport_topic *topic) {
    if (!topic) {
        return;
    }
    for (size_t i = 0; i < topic->listener_count; i++) {
        listener_unlink(&topic->listeners[i]);
    }
    if (topic->socket.id != 0) {
        nng_close(topic->socket);
    }
    memory_budget_release(topic->transport->options.budget, atomic_load(&topic->charged));
    free(topic->listeners);
    free(topic);
}
