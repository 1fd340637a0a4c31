/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Topics of one simulation or stream: their endpoint, which exists while clients watch, and the numbers of their
 * messages.
 *
 * The mutex of the owner, the simulation or stream, guards a watched_topics. Opening and closing an endpoint takes long
 * and happens without the mutex.
 */
#ifndef SERVER_METHODS_TOPIC_H
#define SERVER_METHODS_TOPIC_H

#include "dynamics/v1/event.pb-c.h"
#include "transport/transport.h"

/* Size of the name of a topic, in bytes. */
enum { TOPIC_NAME_SIZE = TRANSPORT_TOPIC_SIZE };

/* Bytes before a serialized event, for topics_send_serialized. */
enum { TOPIC_HEAD_SIZE = 64 };

/* Seconds for which an endpoint stays open without a subscriber. */
#define TOPIC_LINGER 10.0

/* Topics `data` and `events` of one simulation or stream. */
typedef struct watched_topics {
    char data[TOPIC_NAME_SIZE], events[TOPIC_NAME_SIZE];
    uint64_t instance;                      /* instance number of the daemon, sent in each event */
    int64_t created;                        /* wall time of the creation of the owner, ns since 1970 */
    uint64_t data_sequence, event_sequence; /* number of the last message of each topic */
    transport_topic *endpoint;              /* NULL: no watchers */
    bool is_ended;                          /* the owner has ended; no endpoint may be attached any more */
    uint64_t last_use;                      /* ns, CLOCK_MONOTONIC; last time with a connection or a request for one */
    uint8_t *bytes;                         /* buffer of the current message */
    size_t capacity;
} watched_topics;

/* Sets the time of creation, the daemon's instance and the names of the topics: "<kind>/<name>/<data>" and
 * "<kind>/<name>/events". */
void topics_name(watched_topics *t, uint64_t instance, const char *kind, const char *name, const char *data);

/* Expects the client of a request for the topics as a subscriber, if it is connected over NATS. Called with the mutex
 * held. */
void topics_expect(const watched_topics *t, const transport_call *request);

/* Returns whether the endpoint is open and has subscribers. */
bool topics_have_subscribers(const watched_topics *t);

/* Sends an event on the topic `data`, and sets its sequence, stamp and instance. Does nothing without subscribers. */
void topics_send_data(watched_topics *t, Dynamics__V1__Event *event);

/* Sends an event on the topic `events`, and sets its sequence, stamp and instance. Does nothing without subscribers. */
void topics_send_event(watched_topics *t, Dynamics__V1__Event *event);

/* Sends on the topic `data` an event whose member of that number is serialized already: `size` bytes, which begin
 * TOPIC_HEAD_SIZE bytes after `bytes`. Overwrites the bytes before them. Does nothing without subscribers. */
void topics_send_serialized(watched_topics *t, uint32_t member, uint8_t *bytes, size_t size);

/* Numbers a message of the topic `data` that cannot be sent, so that subscribers detect its loss. */
void topics_skip_data(watched_topics *t);

/* Serializes a message into the buffer, where it stays until the next message. Returns NULL when out of memory. */
const uint8_t *topics_pack(watched_topics *t, const ProtobufCMessage *message, size_t *size);

/* Detaches and returns the endpoint if it had no subscriber for TOPIC_LINGER, otherwise returns NULL. Called with the
 * mutex held. */
transport_topic *topics_detach_unused(watched_topics *t, uint64_t now);

/* Frees the buffer, but not the endpoint. */
void topics_free(watched_topics *t);

#endif
