/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Queue that passes messages of topics from other threads to the event loop.
 */
#ifndef ROSBRIDGE_EVENT_QUEUE_H
#define ROSBRIDGE_EVENT_QUEUE_H

#include <dynamics/v1/event.pb-c.h>

#include "bridge.h"

/* Handler of an event of the daemon, called on the event loop. */
typedef void (*event_handler)(void *user, const char *topic, const Dynamics__V1__Event *event);

/* Message: a topic, a zero byte and a serialized Event. `release` frees its owner. */
typedef struct event_message {
    const uint8_t *bytes;
    size_t size;
    void *owner;
    void (*release)(void *owner);
} event_message;

typedef struct event_queue event_queue;

/* Returns NULL when out of memory. */
event_queue *event_queue_create(bridge *of, event_handler handle, void *user);

/* Adds a message, and takes ownership of it. A full queue drops its oldest message. Any thread may call it. */
void event_queue_put(event_queue *queue, const event_message *message);

/* Drops the messages and frees the queue. No other thread may use it any more. */
void event_queue_close(event_queue *closed);

#endif
