/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reports the progress of one request from a thread of its own.
 */
#include "progress.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <dynamics/v1/event.pb-c.h>

#include "requests.h"
#include "endpoint.h"
#include "error.h"

/* Interval of the reports, s. */
static const double INTERVAL = 0.1;

/* Timeout of the requests that the library sends for the progress (endpoints, cancellation), s. It is short, since
 * these requests delay the caller's own. */
static const double PATIENCE = 1;

struct progress {
    dyn_client *client;
    one_way *socket;            /* NULL: the daemon publishes no events that this client can receive */
    uint64_t client_number, id; /* of the request */
    uint64_t number;            /* number under which the daemon publishes the request's progress */
    call_terms terms;
    double fraction; /* last one that the daemon reported */
    atomic_bool is_over;
    pthread_t thread;
};

static void cancel(const progress *self) {
    Dynamics__V1__CancelRequest question = DYNAMICS__V1__CANCEL_REQUEST__INIT;
    Dynamics__V1__CancelReply *reply = NULL;
    question.client = self->client_number;
    question.id = self->id;
    if (request_cancel(self->client, &question, within(PATIENCE), &reply, NULL) == DYN_CLIENT_OK) {
        dynamics__v1__cancel_reply__free_unpacked(reply, NULL);
    }
}

/* Reads the completed fraction from a message: the topic, a zero byte, the event. Ignores events of other requests and
 * a fraction that is not larger than the last one. */
static void read_event(progress *self, const incoming *message) {
    const uint8_t *end = memchr(message->bytes, '\0', message->size);
    if (!end) {
        return;
    }
    size_t size = message->size - (size_t)(end + 1 - message->bytes);
    Dynamics__V1__Event *event = dynamics__v1__event__unpack(NULL, size, end + 1);
    if (!event) {
        return;
    }
    /* A subscription to number 1 also brings the events of number 12. Events of several workers come in any order. */
    bool is_ours = event->event_case == DYNAMICS__V1__EVENT__EVENT_PROGRESS && event->progress->number == self->number;
    if (is_ours && event->progress->fraction > self->fraction) {
        self->fraction = event->progress->fraction;
    }
    dynamics__v1__event__free_unpacked(event, NULL);
}

/* Waits for a message about the request, at most INTERVAL seconds, and reads it. */
static void wait_for_event(progress *self) {
    static const struct timespec pause = {.tv_nsec = 100000000};
    incoming message;
    if (!self->socket) {
        nanosleep(&pause, NULL);
    } else if (one_way_receive(self->socket, INTERVAL, &message, NULL) == DYN_CLIENT_OK) {
        read_event(self, &message);
        incoming_free(&message);
    }
}

/* Thread function: reports until the request is over. If the caller cancels the request, sends the cancellation again
 * and again, because the daemon may not have received the request yet. */
static void *listen(void *argument) {
    progress *self = argument;
    bool is_wanted = true;
    while (!atomic_load(&self->is_over)) {
        wait_for_event(self);
        if (!atomic_load(&self->is_over)) {
            is_wanted = is_wanted && self->terms.progress(self->terms.context, self->fraction);
        }
        if (!is_wanted && !atomic_load(&self->is_over)) {
            cancel(self);
        }
    }
    return NULL;
}

/* Subscribes to the topic of the request's progress. Returns false on failure. */
static bool subscribe(progress *self) {
    char topic[64];
    char *topics[] = {topic};
    snprintf(topic, sizeof topic, "progress/%" PRIu64, self->number);
    return endpoint_open(self->client, "events", 1, topics, PATIENCE, &self->socket, NULL) == DYN_CLIENT_OK;
}

dyn_client_status progress_start(dyn_client *client, Dynamics__V1__Request *request, const call_terms *terms,
                                 progress **started, dyn_client_error *error) {
    *started = NULL;
    if (!terms->progress(terms->context, 0)) {
        return fail(error, DYN_CLIENT_CANCELLED, NULL, "the progress callback cancelled the call before it began");
    }
    progress *self = calloc(1, sizeof *self);
    if (!self) {
        return fail_memory(error);
    }
    *self = (progress){.client = client, .client_number = request->client, .id = request->id, .terms = *terms};
    if (call_draw(&self->number) && subscribe(self)) {
        request->progress = self->number;
    }
    if (pthread_create(&self->thread, NULL, listen, self) != 0) {
        one_way_close(self->socket);
        free(self);
        return fail_memory(error);
    }
    *started = self;
    return DYN_CLIENT_OK;
}

void progress_stop(progress *stopped) {
    if (!stopped) {
        return;
    }
    atomic_store(&stopped->is_over, true);
    pthread_join(stopped->thread, NULL);
    one_way_close(stopped->socket);
    free(stopped);
}
