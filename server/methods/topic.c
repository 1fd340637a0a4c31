/* SPDX-License-Identifier: BSD-2-Clause */
/* Topics of one simulation or stream: names, numbers and publishes their messages. */
#include "methods/topic.h"

#include <stdio.h>
#include <stdlib.h>

#include "observe/clock.h"

void topics_name(watched_topics *t, uint64_t instance, const char *kind, const char *name, const char *data) {
    t->instance = instance;
    t->created = clock_wall();
    snprintf(t->data, sizeof t->data, "%s/%s/%s", kind, name, data);
    snprintf(t->events, sizeof t->events, "%s/%s/events", kind, name);
}

void topics_expect(const watched_topics *t, const transport_call *request) {
    if (t->endpoint && request->identity.origin == TRANSPORT_ORIGIN_NATS) {
        transport_topic_expect_nats(t->endpoint, t->events);
    }
}

bool topics_have_subscribers(const watched_topics *t) {
    return t->endpoint && transport_topic_subscribers(t->endpoint) > 0;
}

static void send(watched_topics *t, const char *topic, uint64_t *sequence, Dynamics__V1__Event *event) {
    event->sequence = *sequence + 1;
    event->stamp_ns = clock_wall();
    event->instance = t->instance;
    size_t size = dynamics__v1__event__get_packed_size(event);
    if (size > t->capacity) {
        uint8_t *bytes = realloc(t->bytes, 2 * size);
        t->bytes = bytes ? bytes : t->bytes;
        t->capacity = bytes ? 2 * size : t->capacity;
    }
    /* Numbers the message also when memory is exhausted, so that subscribers detect its loss. */
    *sequence += 1;
    if (size <= t->capacity) {
        dynamics__v1__event__pack(event, t->bytes);
        transport_topic_publish(t->endpoint, topic, t->bytes, size);
    }
}

void topics_send_data(watched_topics *t, Dynamics__V1__Event *event) {
    if (topics_have_subscribers(t)) {
        send(t, t->data, &t->data_sequence, event);
    }
}

void topics_send_event(watched_topics *t, Dynamics__V1__Event *event) {
    if (topics_have_subscribers(t)) {
        send(t, t->events, &t->event_sequence, event);
    }
}

void topics_free(watched_topics *t) {
    free(t->bytes);
}
