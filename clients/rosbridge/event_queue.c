/* SPDX-License-Identifier: BSD-2-Clause */
/* Queues messages of topics, and decodes them on the event loop. */
#include "event_queue.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Messages that wait for the event loop; beyond them the oldest are dropped. */
enum { WAITING = 4096 };

struct event_queue {
    bridge *bridge;
    event_handler handle;
    void *user;
    uv_async_t wake;
    pthread_mutex_t mutex; /* guards the fields below */
    event_message waiting[WAITING];
    size_t first, count, dropped;
};

static void release(const event_message *message) {
    message->release(message->owner);
}

void event_queue_put(event_queue *queue, const event_message *message) {
    pthread_mutex_lock(&queue->mutex);
    if (queue->count == WAITING) {
        release(&queue->waiting[queue->first]);
        queue->first = (queue->first + 1) % WAITING;
        queue->count--;
        queue->dropped++;
    }
    queue->waiting[(queue->first + queue->count++) % WAITING] = *message;
    pthread_mutex_unlock(&queue->mutex);
    uv_async_send(&queue->wake);
}

/* Removes the oldest message. Returns false if there is none. */
static bool take(event_queue *queue, event_message *taken) {
    pthread_mutex_lock(&queue->mutex);
    bool is_there = queue->count > 0;
    queue->bridge->metrics.counters[COUNTER_EVENTS_LOST] += queue->dropped;
    queue->dropped = 0;
    if (is_there) {
        *taken = queue->waiting[queue->first];
        queue->first = (queue->first + 1) % WAITING;
        queue->count--;
    }
    pthread_mutex_unlock(&queue->mutex);
    return is_there;
}

/* Passes the queued events to the handler. Drops messages without a topic or an Event. */
static void on_wake(uv_async_t *handle) {
    event_queue *queue = handle->data;
    event_message message;
    while (take(queue, &message)) {
        const uint8_t *end = memchr(message.bytes, '\0', message.size);
        size_t topic = end ? (size_t)(end - message.bytes) + 1 : 0;
        Dynamics__V1__Event *event =
            topic > 0 ? dynamics__v1__event__unpack(NULL, message.size - topic, message.bytes + topic) : NULL;
        queue->bridge->metrics.counters[COUNTER_EVENTS]++;
        if (event) {
            queue->handle(queue->user, (const char *)message.bytes, event);
            dynamics__v1__event__free_unpacked(event, NULL);
        }
        release(&message);
    }
}

event_queue *event_queue_create(bridge *of, event_handler handle, void *user) {
    event_queue *queue = calloc(1, sizeof *queue);
    if (!queue) {
        return NULL;
    }
    queue->bridge = of;
    queue->handle = handle;
    queue->user = user;
    pthread_mutex_init(&queue->mutex, NULL);
    uv_async_init(of->loop, &queue->wake, on_wake);
    queue->wake.data = queue;
    return queue;
}

static void on_closed(uv_handle_t *handle) {
    event_queue *queue = handle->data;
    pthread_mutex_destroy(&queue->mutex);
    free(queue);
}

void event_queue_close(event_queue *closed) {
    event_message left;
    while (take(closed, &left)) {
        release(&left);
    }
    uv_close((uv_handle_t *)&closed->wake, on_closed);
}
