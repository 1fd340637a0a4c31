/* SPDX-License-Identifier: BSD-2-Clause */
/* Topics of one simulation or stream: names, numbers and publishes their messages. */
#include "methods/topic.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "methods/varint.h"
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

const uint8_t *topics_pack(watched_topics *t, const ProtobufCMessage *message, size_t *size) {
    *size = protobuf_c_message_get_packed_size(message);
    if (*size > t->capacity) {
        uint8_t *bytes = realloc(t->bytes, 2 * *size);
        if (!bytes) {
            return NULL;
        }
        t->bytes = bytes;
        t->capacity = 2 * *size;
    }
    protobuf_c_message_pack(message, t->bytes);
    return t->bytes;
}

/* Numbers and stamps an event: also one that cannot be sent, so that subscribers detect its loss. */
static void number(const watched_topics *t, uint64_t *sequence, Dynamics__V1__Event *event) {
    event->sequence = *sequence += 1;
    event->stamp_ns = clock_wall();
    event->instance = t->instance;
}

static void send(watched_topics *t, const char *topic, uint64_t *sequence, Dynamics__V1__Event *event) {
    size_t size;
    number(t, sequence, event);
    const uint8_t *bytes = topics_pack(t, &event->base, &size);
    if (bytes) {
        transport_topic_publish(t->endpoint, topic, bytes, size);
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

void topics_send_serialized(watched_topics *t, uint32_t member, uint8_t *bytes, size_t size) {
    Dynamics__V1__Event event = DYNAMICS__V1__EVENT__INIT;
    uint8_t head[TOPIC_HEAD_SIZE]; /* three numbers, and the key and the length of the member: at most 53 bytes */
    if (!topics_have_subscribers(t)) {
        return;
    }
    number(t, &t->data_sequence, &event);
    size_t length = dynamics__v1__event__pack(&event, head);
    length += varint_write(head + length, (uint64_t)member << 3 | PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED);
    length += varint_write(head + length, size);
    memcpy(bytes + TOPIC_HEAD_SIZE - length, head, length);
    transport_topic_publish(t->endpoint, t->data, bytes + TOPIC_HEAD_SIZE - length, length + size);
}

void topics_skip_data(watched_topics *t) {
    t->data_sequence++;
}

transport_topic *topics_detach_unused(watched_topics *t, uint64_t now) {
    transport_topic *endpoint = t->endpoint;
    if (!endpoint) {
        return NULL;
    }
    if (transport_topic_subscribers(endpoint) > 0) {
        t->last_use = now;
    }
    if (now < t->last_use + clock_duration(TOPIC_LINGER)) {
        return NULL;
    }
    t->endpoint = NULL;
    return endpoint;
}

void topics_free(watched_topics *t) {
    free(t->bytes);
}
