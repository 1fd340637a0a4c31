/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Opens an endpoint for a single topic, with a socket and addresses of its own, and publishes on it.
 *
 * Over NATS the daemon does not see its subscribers. Each message there names a subject for an answer, on which the
 * NATS server tells that nobody has subscribed. Subscribers that lost their connection have ABSENCE to come back.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <nng/nng.h>
#include <nng/protocol/pubsub0/pub.h>

#include "observe/clock.h"
#include "transport/carrier.h"

/* Largest number of messages that wait for one subscriber, and of their bytes. Beyond these bounds its oldest messages
 * are dropped. Two messages may always wait. */
enum { SUBSCRIBER_QUEUE = 128, SUBSCRIBER_QUEUE_BYTES = 1 << 20 };

/* Times in ns. ABSENCE: publishing over NATS ends after so long without a subscriber. SILENCE: a probe follows after so
 * long without a message. GAP: longest time between two messages that nobody has read, for which the subscribers were
 * absent all the while. */
static const uint64_t ABSENCE = 10000000000, SILENCE = 5000000000, GAP = 7000000000;

struct transport_topic {
    transport *transport;
    transport_topic *next; /* of the transport's topics */
    unsigned number;
    atomic_bool is_on_nats;             /* subscribers over NATS are expected */
    atomic_uint_fast64_t published;     /* time of the last message over NATS, ns */
    uint64_t first_unread, last_unread; /* times at which messages over NATS had no subscriber, ns; 0: none */
    char probed[TRANSPORT_TOPIC_SIZE];  /* name of the topic for probes */
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
    for (size_t i = 0; i < t->endpoint_count; i++) {
        if (t->endpoints[i].listener.kind != TRANSPORT_EVENTS) {
            continue;
        }
        listener *l = &topic->listeners[topic->listener_count];
        *l = (listener){.kind = TRANSPORT_EVENTS, .mode = t->options.ipc_mode, .socket = topic->socket, .tls = t->tls};
        if (!derive_address(t->options.endpoints[i].address, topic->number, l->address)) {
            snprintf(error, TRANSPORT_ERROR_SIZE, "%.200s: the address is too long", t->options.endpoints[i].address);
            return false;
        }
        if (!listener_open(l, error)) {
            return false;
        }
        topic->listener_count++;
    }
    if (topic->listener_count == 0 && !t->nats) {
        snprintf(error, TRANSPORT_ERROR_SIZE, "the daemon has no endpoint for events (endpoints.events)");
    }
    return topic->listener_count > 0 || t->nats;
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
    topic->number = atomic_fetch_add(&t->topic_number, 1) + 1;
    topic->listeners = listeners;
    pthread_mutex_lock(&t->topics_mutex);
    bool is_open = open_socket(topic, error) && listen_beside(topic, error);
    if (is_open) {
        topic->next = t->topics;
        t->topics = topic;
    }
    pthread_mutex_unlock(&t->topics_mutex);
    if (!is_open) {
        transport_topic_close(topic);
        return false;
    }
    *result = topic;
    return true;
}

void topics_set_tls(transport *t) {
    for (transport_topic *topic = t->topics; topic; topic = topic->next) {
        for (size_t i = 0; i < topic->listener_count; i++) {
            listener_set_tls(&topic->listeners[i], t->tls);
        }
    }
}

size_t transport_topic_address_count(const transport_topic *topic) {
    return topic->listener_count;
}

const char *transport_topic_address(const transport_topic *topic, size_t i) {
    return topic->listeners[i].address;
}

unsigned transport_topic_subscribers(const transport_topic *topic) {
    return atomic_load(&topic->subscribers) + (atomic_load(&topic->is_on_nats) ? 1 : 0);
}

/* ---- subscribers over NATS --------------------------------------------------------------------------------------- */

void transport_topic_expect_nats(transport_topic *topic, const char *name) {
    transport *t = topic->transport;
    pthread_mutex_lock(&t->topics_mutex);
    snprintf(topic->probed, sizeof topic->probed, "%s", name);
    topic->first_unread = topic->last_unread = 0;
    atomic_store(&topic->published, clock_now());
    atomic_store(&topic->is_on_nats, t->nats != NULL);
    pthread_mutex_unlock(&t->topics_mutex);
}

void topics_note_unread(void *context, unsigned number) {
    transport *t = context;
    uint64_t now = clock_now();
    pthread_mutex_lock(&t->topics_mutex);
    transport_topic *topic = t->topics;
    while (topic && topic->number != number) {
        topic = topic->next;
    }
    if (topic) {
        topic->first_unread = now > topic->last_unread + GAP ? now : topic->first_unread;
        topic->last_unread = now;
        if (now > topic->first_unread + ABSENCE) {
            atomic_store(&topic->is_on_nats, false);
        }
    }
    pthread_mutex_unlock(&t->topics_mutex);
}

static bool publish_over_nats(transport_topic *topic, const char *name, const uint8_t *body, size_t size) {
    if (!atomic_load(&topic->is_on_nats)) {
        return false;
    }
    atomic_store(&topic->published, clock_now());
    return nats_carrier_publish_to_watchers(topic->transport->nats, name, body, size, topic->number);
}

void topics_probe(transport *t, uint64_t now) {
    pthread_mutex_lock(&t->topics_mutex);
    for (transport_topic *topic = t->topics; topic; topic = topic->next) {
        if (now > atomic_load(&topic->published) + SILENCE) {
            publish_over_nats(topic, topic->probed, NULL, 0);
        }
    }
    pthread_mutex_unlock(&t->topics_mutex);
}

static void leave_list(transport_topic *topic) {
    transport *t = topic->transport;
    pthread_mutex_lock(&t->topics_mutex);
    transport_topic **place = &t->topics;
    while (*place && *place != topic) {
        place = &(*place)->next;
    }
    if (*place) {
        *place = topic->next;
    }
    pthread_mutex_unlock(&t->topics_mutex);
}

/* ---- publishing -------------------------------------------------------------------------------------------------- */

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
    bool is_on_nats = publish_over_nats(topic, name, body, size);
    if (publish(topic->socket, name, body, size) || is_on_nats) {
        atomic_fetch_add(&topic->transport->options.counters->events, 1);
    }
}

void transport_topic_close(transport_topic *topic) {
    if (!topic) {
        return;
    }
    leave_list(topic);
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
