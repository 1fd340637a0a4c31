/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fuzz target: passes any bytes to the C client as a message of a topic: to a watch, a subscription, the progress of a
 * request, and to the client over NATS. Bytes that are no event are refused, and a message that the client passes on
 * has the lengths that it states.
 */
#include <dynamics/v1/event.pb-c.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nats_one_way.h"
#include "progress.h"
#include "subscribe.h"
#include "target.h"
#include "watch.h"

enum { PROGRESS_NUMBER = 7 };

static void require(bool holds, const char *property) {
    if (!holds) {
        fprintf(stderr, "does not hold: %s\n", property);
        abort();
    }
}

/* Connection that delivers a message `left` times and then none. */
typedef struct frame_source {
    one_way base;
    const uint8_t *bytes;
    size_t size;
    int left;
} frame_source;

/* Returns a copy of the bytes without a byte beyond them. */
static uint8_t *copy_bytes(const uint8_t *bytes, size_t size) {
    uint8_t *copy = malloc(size > 0 ? size : 1);
    require(copy != NULL, "there is memory");
    if (size > 0) {
        memcpy(copy, bytes, size);
    }
    return copy;
}

static dyn_client_status receive(one_way *used, double timeout, incoming *message, dyn_client_error *error) {
    frame_source *self = (frame_source *)used;
    (void)timeout, (void)error;
    if (self->left == 0) {
        return DYN_CLIENT_TIMEOUT;
    }
    self->left--;
    uint8_t *copy = copy_bytes(self->bytes, self->size);
    *message = (incoming){.bytes = copy, .size = self->size, .owner = copy, .release = free};
    return DYN_CLIENT_OK;
}

static void close_source(one_way *closed) {
    (void)closed;
}

static const one_way_carrier carrier = {.receive = receive, .close = close_source};

static frame_source deliver(const uint8_t *data, size_t size, int times) {
    return (frame_source){.base.carrier = &carrier, .bytes = data, .size = size, .left = times};
}

/* Reads all numbers of an array, which may be NULL. The sum is volatile so that the compiler keeps the reads. */
static void read_all(const double *numbers, size_t count) {
    volatile double sum = 0;
    for (size_t i = 0; numbers && i < count; i++) {
        sum += numbers[i];
    }
    (void)sum;
}

/* Returns the states of which an update of an event was made, or NULL. */
static const Dynamics__V1__SimulationStateEvent *states_of(const dyn_client_update *u,
                                                           const Dynamics__V1__Event *event) {
    if (event->event_case == DYNAMICS__V1__EVENT__EVENT_GROUP_STATE) {
        require(u->remaining < event->group_state->n_simulations, "an update is that of a simulation");
        return event->group_state->simulations[event->group_state->n_simulations - u->remaining - 1];
    }
    require(u->remaining == 0, "other events are one update");
    return event->event_case == DYNAMICS__V1__EVENT__EVENT_SIMULATION_STATE ? event->simulation_state : NULL;
}

/* Checks the arrays of an update against those of the event that it was made from. */
static void check_update(const dyn_client_update *u, const Dynamics__V1__Event *event) {
    const Dynamics__V1__SimulationStateEvent *s = states_of(u, event);
    require(u->text && u->message && u->joint && u->contact_surface && u->simulation, "an update has texts");
    require(u->lost == 0, "a message that comes again is no loss");
    if (s) {
        require(s->n_time == u->count && s->n_q == u->count * u->nq && s->n_v == u->count * u->nv &&
                    s->n_tau == u->count * u->nv,
                "states have the lengths that are stated");
    } else if (event->event_case == DYNAMICS__V1__EVENT__EVENT_STREAM_TORQUES) {
        const Dynamics__V1__StreamTorques *t = event->stream_torques;
        require(t->n_time == u->count && t->n_tau == u->count * u->nv, "torques have the lengths that are stated");
        require(!u->residuals || t->n_residuals == u->count, "residuals have the lengths that are stated");
    }
    read_all(u->time, u->count);
    read_all(u->q, u->count * u->nq);
    read_all(u->v, u->count * u->nv);
    read_all(u->tau, u->count * u->nv);
    read_all(u->residuals, u->count);
}

/* Watches a simulation whose topic has the message twice. `event` is the decoded one, or NULL. */
static void watch(const uint8_t *data, size_t size, const Dynamics__V1__Event *event) {
    frame_source source = deliver(data, size, 2);
    dyn_client_watch *self = watch_of(&source.base, "simulation/s/state", "simulation/s/events");
    require(self != NULL, "there is memory");
    for (int i = 0; i < 2; i++) {
        dyn_client_update update = DYN_CLIENT_UPDATE_INIT(0);
        dyn_client_error error;
        dyn_client_status status = dyn_client_watch_next(self, 1, &update, &error);
        require(status == DYN_CLIENT_OK || status == DYN_CLIENT_BAD_REPLY || status == DYN_CLIENT_TIMEOUT,
                "a message is read, refused or left out");
        require(event || status == DYN_CLIENT_BAD_REPLY, "what is no event is refused");
        if (status == DYN_CLIENT_OK) {
            check_update(&update, event);
        }
    }
    dyn_client_watch_close(self);
}

/* Receives the message as bytes. `topic_size` is the size of its topic with the zero byte; 0: it has none. */
static void subscribe(const uint8_t *data, size_t size, size_t topic_size) {
    frame_source source = deliver(data, size, 1);
    dyn_client_subscription *self = subscription_of(&source.base);
    dyn_client_error error;
    const char *name;
    const void *event;
    size_t event_size;
    require(self != NULL, "there is memory");
    dyn_client_status status = dyn_client_subscription_next(self, 1, &name, &event, &event_size, &error);
    require((status == DYN_CLIENT_OK) == (topic_size > 0), "a message with a topic is received");
    require(status != DYN_CLIENT_OK || (strlen(name) + 1 == topic_size && topic_size + event_size == size),
            "topic and event are the whole message");
    dyn_client_subscription_close(self);
}

static void report_progress(const uint8_t *data, size_t size) {
    uint8_t *copy = copy_bytes(data, size);
    double fraction = progress_after(&(incoming){.bytes = copy, .size = size}, PROGRESS_NUMBER, 0.25);
    require(fraction >= 0.25 && fraction <= 1, "progress does not go back or beyond the end");
    free(copy);
}

/* Reads the message as one of NATS, whose subject is the part before the zero byte. */
static void receive_nats(const uint8_t *data, size_t topic_size, size_t size) {
    static const char *const topics[] = {"simulation/s/state", "progress/*"};
    for (size_t i = 0; i < sizeof topics / sizeof topics[0]; i++) {
        incoming made = nats_one_way_message(topics[i], (const char *)data, data + topic_size, size - topic_size);
        topic_message parts;
        require(made.bytes && one_way_split(&made, &parts), "a message of NATS has a topic");
        require(parts.size == size - topic_size && memcmp(parts.event, data + topic_size, parts.size) == 0,
                "the event is that of NATS");
        require(i == 1 ? !strchr(parts.topic, '.') : strcmp(parts.topic, topics[i]) == 0,
                "the topic is that of the subscription or the subject");
        incoming_free(&made);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const uint8_t *end = size > 0 ? memchr(data, '\0', size) : NULL;
    size_t topic_size = end ? (size_t)(end - data) + 1 : 0;
    Dynamics__V1__Event *event = end ? dynamics__v1__event__unpack(NULL, size - topic_size, end + 1) : NULL;
    watch(data, size, event);
    subscribe(data, size, topic_size);
    report_progress(data, size);
    if (end) {
        receive_nats(data, topic_size, size);
    }
    if (event) {
        dynamics__v1__event__free_unpacked(event, NULL);
    }
    return 0;
}
