/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reports the progress of one request from a thread of its own.
 */
#include "progress.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <dynamics/v1/event.pb-c.h>

#include "endpoint.h"
#include "error.h"

/* Interval of the reports, s. */
static const double INTERVAL = 0.1;

/* Timeout of the request for the address of the events, s. It is short, since the caller can cancel the call only after
 * it. A busy daemon is asked again. */
static const double PATIENCE = 0.3;

struct progress {
    dyn_client *client;
    request_numbers request;
    uint64_t number; /* number under which the daemon publishes the request's progress; 0: none */
    call_terms terms;
    double fraction;       /* last one that the daemon reported */
    pthread_mutex_t mutex; /* guards is_over and socket */
    pthread_cond_t ended;
    bool is_over;
    one_way *socket; /* NULL: not opened yet, or the daemon publishes no events that this client can receive */
    pthread_t thread;
};

double progress_after(const incoming *message, uint64_t number, double fraction) {
    topic_message parts;
    Dynamics__V1__Event *event =
        one_way_split(message, &parts) ? dynamics__v1__event__unpack(NULL, parts.size, parts.event) : NULL;
    if (!event) {
        return fraction;
    }
    /* A subscription to number 1 also brings the events of number 12. Events of several workers come in any order. */
    bool is_ours = event->event_case == DYNAMICS__V1__EVENT__EVENT_PROGRESS && event->progress->number == number;
    bool is_further = is_ours && event->progress->fraction > fraction && event->progress->fraction <= 1;
    fraction = is_further ? event->progress->fraction : fraction;
    dynamics__v1__event__free_unpacked(event, NULL);
    return fraction;
}

static bool is_over(progress *self) {
    pthread_mutex_lock(&self->mutex);
    bool over = self->is_over;
    pthread_mutex_unlock(&self->mutex);
    return over;
}

/* Waits for the end of the request, at most INTERVAL seconds. */
static void wait_for_end(progress *self) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += (long)(INTERVAL * 1e9);
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_mutex_lock(&self->mutex);
    int waited = 0;
    while (!self->is_over && waited == 0) {
        waited = pthread_cond_timedwait(&self->ended, &self->mutex, &until);
    }
    pthread_mutex_unlock(&self->mutex);
}

/* Waits for a message about the request, at most INTERVAL seconds or until the request is over, and reads it. */
static void wait_for_event(progress *self) {
    incoming message;
    if (!self->socket) {
        wait_for_end(self);
    } else if (one_way_receive(self->socket, INTERVAL, &message, NULL) == DYN_CLIENT_OK) {
        self->fraction = progress_after(&message, self->number, self->fraction);
        incoming_free(&message);
    }
}

/* Subscribes to the topic of the request's progress. Returns false if the daemon has not answered in time. */
static bool subscribe(progress *self) {
    char topic[64];
    char *topics[] = {topic};
    one_way *socket;
    snprintf(topic, sizeof topic, "progress/%" PRIu64, self->number);
    dyn_client_status status = endpoint_open(self->client, "events", 1, topics, PATIENCE, &socket, NULL);
    if (status == DYN_CLIENT_OK) {
        pthread_mutex_lock(&self->mutex);
        self->socket = socket;
        pthread_mutex_unlock(&self->mutex);
    }
    return status != DYN_CLIENT_TIMEOUT;
}

/* Thread function: reports until the request is over. It subscribes after the first interval, so that a short request
 * costs no connection. If the caller cancels the request, it sends the cancellation again and again, because the daemon
 * may not have received the request yet. */
static void *listen(void *argument) {
    progress *self = argument;
    bool is_wanted = true, is_asked = self->number == 0;
    wait_for_end(self);
    while (!is_over(self)) {
        is_wanted = is_wanted && self->terms.progress(self->terms.context, self->fraction);
        if (!is_wanted) {
            call_cancel(self->client, self->request);
        } else if (!is_asked) {
            is_asked = subscribe(self);
        }
        wait_for_event(self);
    }
    return NULL;
}

static void release(progress *freed) {
    one_way_close(freed->socket);
    pthread_cond_destroy(&freed->ended);
    pthread_mutex_destroy(&freed->mutex);
    free(freed);
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
    *self = (progress){.client = client, .request = {request->client, request->id}, .terms = *terms};
    pthread_condattr_t clock;
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_mutex_init(&self->mutex, NULL);
    pthread_cond_init(&self->ended, &clock);
    pthread_condattr_destroy(&clock);
    if (call_draw(&self->number)) {
        request->progress = self->number;
    }
    if (pthread_create(&self->thread, NULL, listen, self) != 0) {
        release(self);
        return fail_memory(error);
    }
    *started = self;
    return DYN_CLIENT_OK;
}

void progress_stop(progress *stopped) {
    if (!stopped) {
        return;
    }
    pthread_mutex_lock(&stopped->mutex);
    stopped->is_over = true;
    pthread_cond_signal(&stopped->ended);
    if (stopped->socket) {
        one_way_end(stopped->socket);
    }
    pthread_mutex_unlock(&stopped->mutex);
    pthread_join(stopped->thread, NULL);
    release(stopped);
}
