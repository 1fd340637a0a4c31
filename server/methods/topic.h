/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The topics of one simulation or stream: their endpoint, which is there while somebody watches, and their numbering.
 *
 * The owner's mutex guards a watched_topics; what the functions open and close outside of it takes its time.
 */
#ifndef SERVER_METHODS_TOPIC_H
#define SERVER_METHODS_TOPIC_H

#include "dynamics/v1/event.pb-c.h"
#include "transport/transport.h"

enum { TOPIC_NAME_SIZE = 96 };

/* Seconds for which an endpoint stays open without a subscriber. */
#define TOPIC_LINGER 10.0

typedef struct watched_topics {
    char data[TOPIC_NAME_SIZE], events[TOPIC_NAME_SIZE];
    uint64_t instance;                      /* of the daemon, in each event */
    uint64_t data_sequence, event_sequence; /* of the last message of each */
    transport_topic *endpoint;              /* NULL: nobody watches */
    uint64_t last_use;                      /* ns; somebody was connected, or asked to be */
    uint8_t *bytes;                         /* of the message being made */
    size_t capacity;
} watched_topics;

/* Sets the daemon's instance, and names the topics "<kind>/<name>/<data>" and "<kind>/<name>/events". */
void topics_name(watched_topics *t, uint64_t instance, const char *kind, const char *name, const char *data);

/* Returns whether somebody gets what is sent. */
bool topics_have_subscribers(const watched_topics *t);

/* Sends an event, whose content is set; sequence, stamp and instance are set here. Without subscribers nothing happens.
 */
void topics_send_data(watched_topics *t, Dynamics__V1__Event *event);
void topics_send_event(watched_topics *t, Dynamics__V1__Event *event);

/* Frees what is left, without the endpoint. */
void topics_free(watched_topics *t);

#endif
