/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Progress of one long request.
 */
#include "progress.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dynamics/v1/event.pb-c.h>

#include "ask.h"
#include "one_way.h"
#include "watch.h"

/* Seconds between two checks of whether the request has ended. */
static const double PATIENCE = 0.1;

enum { MAX_ADDRESSES = 16 };

struct progress {
    dyn_client *client;
    one_way *socket;
    uint64_t client_number, id; /* of the request */
    uint64_t number;            /* number under which its progress is published */
    dyn_client_progress report;
    void *context;
    atomic_bool is_over;
    pthread_t thread;
};

static void cancel(const progress *self) {
    Dynamics__V1__CancelRequest question = DYNAMICS__V1__CANCEL_REQUEST__INIT;
    Dynamics__V1__CancelReply *reply = NULL;
    question.client = self->client_number;
    question.id = self->id;
    if (ask_cancel(self->client, &question, 0, &reply, NULL) == DYN_CLIENT_OK)
        dynamics__v1__cancel_reply__free_unpacked(reply, NULL);
}

/* Reports an event to the caller. A message is the topic, a zero byte, and the event. */
static void report_event(progress *self, const incoming *message) {
    const uint8_t *end = memchr(message->bytes, '\0', message->size);
    if (end == NULL)
        return;
    size_t size = message->size - (size_t)(end + 1 - message->bytes);
    Dynamics__V1__Event *event = dynamics__v1__event__unpack(NULL, size, end + 1);
    if (event == NULL)
        return;
    /* A subscription to number 1 also receives the events of number 12. */
    bool is_ours = event->event_case == DYNAMICS__V1__EVENT__EVENT_PROGRESS && event->progress->number == self->number;
    if (is_ours && !atomic_load(&self->is_over) && !self->report(self->context, event->progress->fraction))
        cancel(self);
    dynamics__v1__event__free_unpacked(event, NULL);
}

static void *listen(void *argument) {
    progress *self = argument;
    while (!atomic_load(&self->is_over)) {
        incoming message;
        if (one_way_receive(self->socket, PATIENCE, &message, NULL) == DYN_CLIENT_OK) {
            report_event(self, &message);
            incoming_free(&message);
        }
    }
    return NULL;
}

/* Subscribes to the request's topic. */
static bool subscribe(progress *self) {
    dyn_client_server_info *info;
    char *addresses[MAX_ADDRESSES], topic[64];
    char *topics[] = {topic};
    size_t count = 0;
    if (dyn_client_get_server_info(self->client, 0, &info, NULL) != DYN_CLIENT_OK)
        return false;
    for (size_t i = 0; i < info->endpoint_count && count < MAX_ADDRESSES; i++)
        if (strcmp(info->endpoints[i].kind, "events") == 0)
            addresses[count++] = (char *)info->endpoints[i].address;
    snprintf(topic, sizeof topic, "progress/%" PRIu64, self->number);
    bool subscribed =
        count > 0 && one_way_open(count, addresses, client_url(self->client), 1, topics,
                                  client_connect_timeout(self->client), &self->socket, NULL) == DYN_CLIENT_OK;
    dyn_client_server_info_free(info);
    return subscribed;
}

progress *progress_start(dyn_client *client, Dynamics__V1__Request *request, dyn_client_progress report,
                         void *context) {
    progress *self = report != NULL && client != NULL ? calloc(1, sizeof *self) : NULL;
    if (self == NULL)
        return NULL;
    call_number(client, request);
    *self = (progress){
        .client = client, .client_number = request->client, .id = request->id, .report = report, .context = context};
    if (!call_draw(&self->number) || !subscribe(self)) {
        free(self);
        return NULL;
    }
    if (pthread_create(&self->thread, NULL, listen, self) != 0) {
        one_way_close(self->socket);
        free(self);
        return NULL;
    }
    request->progress = self->number;
    return self;
}

void progress_stop(progress *stopped) {
    if (stopped == NULL)
        return;
    atomic_store(&stopped->is_over, true);
    pthread_join(stopped->thread, NULL);
    one_way_close(stopped->socket);
    free(stopped);
}
