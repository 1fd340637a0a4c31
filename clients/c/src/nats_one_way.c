/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Receives events from subjects of a NATS server, and publishes points to that of a daemon.
 *
 * libnats delivers the messages of all subscriptions in one thread, which queues them for the reader in the order of
 * their arrival. A daemon publishes empty messages to find out whether it has subscribers; they are left out. It
 * answers each message that it has read: a sender waits while too many are unread.
 */
#include "nats_one_way.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "monotonic.h"
#include "nats_link.h"

/* WAITING: number of received messages that wait for the reader; if more arrive, the oldest are lost. SUBJECT_SIZE:
 * bytes of a subject. */
enum { WAITING = 1024, SUBJECT_SIZE = 256 };

/* Parts of the subject of an event before those of its topic: dynamics, v1, events and the daemon. */
enum { PARTS_BEFORE_TOPIC = 4 };

/* Longest wait for messages to a subscription that has ended, ms. */
enum { LAST_FLUSH = 1000 };

/* Messages that may be on their way to the daemon, and their bytes; one of any size may. */
enum { UNREAD = 64, UNREAD_BYTES = 4 << 20 };

typedef struct nats_one_way nats_one_way;

/* Subscription to a topic. */
typedef struct reader {
    nats_one_way *owner;
    char *topic;
    natsSubscription *subscription;
} reader;

struct nats_one_way {
    one_way base;
    nats_link *link;
    size_t reader_count;
    reader *readers;
    /* For sending: subject of the daemon, and subscription to the answers. */
    char subject[SUBJECT_SIZE];
    natsInbox *inbox;
    natsSubscription *answers;
    uint64_t sent, read;   /* numbers of the last messages that were sent, and that the daemon has read */
    size_t sizes[UNREAD];  /* bytes of message n at n % UNREAD */
    pthread_mutex_t mutex; /* guards the members below */
    pthread_cond_t changed;
    size_t delivering; /* subscriptions whose messages may still arrive */
    bool is_ended;
    size_t first, count; /* of the waiting messages */
    incoming waiting[WAITING];
};

/* ---- receiving --------------------------------------------------------------------------------------------------- */

incoming nats_one_way_message(const char *topic, const char *subject, const void *event, size_t size) {
    bool is_of_several = strchr(topic, '*') != NULL;
    for (int i = 0; is_of_several && i < PARTS_BEFORE_TOPIC; i++) {
        const char *dot = strchr(subject, '.');
        subject = dot ? dot + 1 : subject;
    }
    topic = is_of_several ? subject : topic;
    size_t length = strlen(topic) + 1;
    uint8_t *bytes = malloc(length + size);
    if (!bytes) {
        return (incoming){0};
    }
    memcpy(bytes, topic, length);
    memcpy(bytes + length, event, size);
    for (char *dot = is_of_several ? strchr((char *)bytes, '.') : NULL; dot; dot = strchr(dot, '.')) {
        *dot = '/';
    }
    return (incoming){.bytes = bytes, .size = length + size, .owner = bytes, .release = free};
}

static void on_message(natsConnection *at, natsSubscription *subscription, natsMsg *message, void *context) {
    (void)at;
    (void)subscription;
    const reader *from = context;
    nats_one_way *self = from->owner;
    size_t size = (size_t)natsMsg_GetDataLength(message);
    incoming copy = {0};
    if (size > 0) {
        copy = nats_one_way_message(from->topic, natsMsg_GetSubject(message), natsMsg_GetData(message), size);
    }
    natsMsg_Destroy(message);
    if (!copy.bytes) {
        return;
    }
    pthread_mutex_lock(&self->mutex);
    if (self->count == WAITING) {
        incoming_free(&self->waiting[self->first]);
        self->first = (self->first + 1) % WAITING;
        self->count--;
    }
    self->waiting[(self->first + self->count++) % WAITING] = copy;
    pthread_cond_signal(&self->changed);
    pthread_mutex_unlock(&self->mutex);
}

/* Notes that no message of a subscription arrives any more. */
static void on_complete(void *context) {
    nats_one_way *self = context;
    pthread_mutex_lock(&self->mutex);
    self->delivering--;
    pthread_cond_broadcast(&self->changed);
    pthread_mutex_unlock(&self->mutex);
}

static dyn_client_status receive_nats(one_way *base, double timeout, incoming *message, dyn_client_error *error) {
    nats_one_way *self = (nats_one_way *)base;
    const struct timespec until = monotonic_timespec(monotonic_now() + fmax(timeout, 0));
    int waited = 0;
    pthread_mutex_lock(&self->mutex);
    while (self->count == 0 && !self->is_ended && waited == 0) {
        waited = pthread_cond_timedwait(&self->changed, &self->mutex, &until);
    }
    bool is_ended = self->is_ended, is_received = self->count > 0 && !is_ended;
    if (is_received) {
        *message = self->waiting[self->first];
        self->first = (self->first + 1) % WAITING;
        self->count--;
    }
    pthread_mutex_unlock(&self->mutex);
    if (is_ended || (!is_received && natsConnection_IsClosed(self->link->connection))) {
        return fail(error, DYN_CLIENT_UNREACHABLE, NULL, "the connection is closed");
    }
    return is_received ? DYN_CLIENT_OK
                       : fail(error, DYN_CLIENT_TIMEOUT, NULL, "nothing was published within %g s", timeout);
}

static void end_nats(one_way *ended) {
    nats_one_way *self = (nats_one_way *)ended;
    pthread_mutex_lock(&self->mutex);
    self->is_ended = true;
    pthread_cond_broadcast(&self->changed);
    pthread_mutex_unlock(&self->mutex);
}

/* Removes the waiting messages of a topic. */
static void drop_waiting(nats_one_way *self, const char *topic) {
    size_t kept = 0;
    pthread_mutex_lock(&self->mutex);
    for (size_t i = 0; i < self->count; i++) {
        incoming *message = &self->waiting[(self->first + i) % WAITING];
        if (strcmp((const char *)message->bytes, topic) == 0) {
            incoming_free(message);
        } else {
            self->waiting[(self->first + kept++) % WAITING] = *message;
        }
    }
    self->count = kept;
    pthread_mutex_unlock(&self->mutex);
}

static void unsubscribe_nats(one_way *used, const char *topic) {
    nats_one_way *self = (nats_one_way *)used;
    for (size_t i = 0; i < self->reader_count; i++) {
        if (strcmp(self->readers[i].topic, topic) == 0) {
            natsSubscription_Unsubscribe(self->readers[i].subscription);
        }
    }
    drop_waiting(self, topic);
}

/* ---- sending ----------------------------------------------------------------------------------------------------- */

/* Reads the answers to sent messages, and waits for one until `deadline`. Returns NATS_TIMEOUT when none is left, and
 * NATS_NO_RESPONDERS when the daemon is gone. */
static natsStatus read_answer(nats_one_way *self, double deadline) {
    natsMsg *answer = NULL;
    double left = deadline - monotonic_now();
    int64_t wait = left > 0 ? (int64_t)ceil(left * 1e3) : 0;
    natsStatus status = natsSubscription_NextMsg(&answer, self->answers, wait);
    if (status == NATS_OK) {
        const char *dot = strrchr(natsMsg_GetSubject(answer), '.');
        uint64_t number = dot ? strtoull(dot + 1, NULL, 10) : 0;
        self->read = number > self->read && number <= self->sent ? number : self->read;
        natsMsg_Destroy(answer);
    }
    return status;
}

/* Returns whether the daemon has read so much that a message of `size` bytes may follow. */
static bool has_room(const nats_one_way *self, size_t size) {
    size_t bytes = size;
    for (uint64_t number = self->read + 1; number <= self->sent; number++) {
        bytes += self->sizes[number % UNREAD];
    }
    return self->sent == self->read || (self->sent - self->read < UNREAD && bytes <= UNREAD_BYTES);
}

/* Waits until the daemon has read enough. Assumes after a timeout that the messages are lost. */
static dyn_client_status wait_for_room(nats_one_way *self, size_t size, double timeout, dyn_client_error *error) {
    double deadline = monotonic_now() + timeout;
    natsStatus status = NATS_OK;
    while (status == NATS_OK) {
        status = read_answer(self, 0);
    }
    while ((status == NATS_OK || status == NATS_TIMEOUT) && !has_room(self, size)) {
        status = read_answer(self, deadline);
        if (status == NATS_TIMEOUT) {
            self->read = self->sent;
            return fail(error, DYN_CLIENT_TIMEOUT, NULL, "the daemon took no points for %g s", timeout);
        }
    }
    switch (status) {
    case NATS_OK:
    case NATS_TIMEOUT:
        return DYN_CLIENT_OK;
    case NATS_NO_RESPONDERS:
        return nats_link_fail_gone(self->link, error);
    default:
        return fail(error, DYN_CLIENT_UNREACHABLE, NULL, "no answers come from %s: %s", self->link->base.url,
                    natsStatus_GetText(status));
    }
}

static dyn_client_status send_nats(one_way *used, const outgoing *message, double timeout, dyn_client_error *error) {
    nats_one_way *self = (nats_one_way *)used;
    char answer[SUBJECT_SIZE];
    dyn_client_status status = nats_link_check_size(self->link, message->size, error);
    if (status == DYN_CLIENT_OK) {
        status = wait_for_room(self, message->size, timeout, error);
    }
    if (status != DYN_CLIENT_OK) {
        return status;
    }
    uint8_t *bytes = malloc(message->size > 0 ? message->size : 1);
    if (!bytes) {
        return fail_memory(error);
    }
    message->write(message, bytes);
    self->sent++;
    self->sizes[self->sent % UNREAD] = message->size;
    snprintf(answer, sizeof answer, "%s.%llu", self->inbox, (unsigned long long)self->sent);
    natsStatus sent =
        natsConnection_PublishRequest(self->link->connection, self->subject, answer, bytes, (int)message->size);
    free(bytes);
    return sent == NATS_OK ? DYN_CLIENT_OK
                           : fail(error, DYN_CLIENT_UNREACHABLE, NULL, "no points are sent to %s: %s",
                                  self->link->base.url, natsStatus_GetText(sent));
}

/* ---- opening and closing ----------------------------------------------------------------------------------------- */

/* Ends the subscriptions. Waits for a round trip after that, since the reading thread of libnats 3.4 uses those of
 * earlier messages without a reference. */
static void unsubscribe_all(nats_one_way *self) {
    for (size_t i = 0; i < self->reader_count; i++) {
        natsSubscription_Unsubscribe(self->readers[i].subscription);
    }
    natsSubscription_Unsubscribe(self->answers);
    natsConnection_FlushTimeout(self->link->connection, LAST_FLUSH);
}

static void close_nats(one_way *base) {
    nats_one_way *self = (nats_one_way *)base;
    unsubscribe_all(self);
    pthread_mutex_lock(&self->mutex);
    while (self->delivering > 0) {
        pthread_cond_wait(&self->changed, &self->mutex);
    }
    pthread_mutex_unlock(&self->mutex);
    for (size_t i = 0; i < self->reader_count; i++) {
        natsSubscription_Destroy(self->readers[i].subscription);
        free(self->readers[i].topic);
    }
    for (size_t i = 0; i < self->count; i++) {
        incoming_free(&self->waiting[(self->first + i) % WAITING]);
    }
    natsSubscription_Destroy(self->answers);
    natsInbox_Destroy(self->inbox);
    pthread_cond_destroy(&self->changed);
    pthread_mutex_destroy(&self->mutex);
    nats_link_release(self->link);
    free(self->readers);
    free(self);
}

/* Writes the subject of a topic: dynamics.v1.events.REPLICA and the parts of the topic. */
static void write_subject(const nats_one_way *self, const char *topic, char subject[SUBJECT_SIZE]) {
    bool is_progress = strncmp(topic, "progress/", strlen("progress/")) == 0;
    snprintf(subject, SUBJECT_SIZE, "dynamics.v1.events.%s.%s", is_progress ? "*" : self->link->replica, topic);
    for (char *slash = strchr(subject, '/'); slash; slash = strchr(slash, '/')) {
        *slash = '.';
    }
}

/* Subscribes to a topic. */
static natsStatus add_reader(nats_one_way *self, const char *topic) {
    char subject[SUBJECT_SIZE];
    reader *added = &self->readers[self->reader_count];
    *added = (reader){.owner = self, .topic = strdup(topic)};
    if (!added->topic) {
        return NATS_NO_MEMORY;
    }
    self->reader_count++;
    write_subject(self, topic, subject);
    natsStatus status =
        natsConnection_Subscribe(&added->subscription, self->link->connection, subject, on_message, added);
    if (status != NATS_OK) {
        return status;
    }
    pthread_mutex_lock(&self->mutex);
    self->delivering++;
    pthread_mutex_unlock(&self->mutex);
    status = natsSubscription_SetOnCompleteCB(added->subscription, on_complete, self);
    if (status != NATS_OK) {
        on_complete(self);
    }
    return status;
}

/* Subscribes to all topics, or prepares the sending of points. */
static natsStatus prepare(nats_one_way *self, size_t topic_count, char *const *topics, double timeout) {
    natsStatus status = NATS_OK;
    for (size_t i = 0; i < topic_count && status == NATS_OK; i++) {
        status = add_reader(self, topics[i]);
    }
    if (topic_count == 0) {
        snprintf(self->subject, sizeof self->subject, "dynamics.v1.ingest.%s", self->link->replica);
        status = natsInbox_Create(&self->inbox);
        if (status == NATS_OK) {
            char answers[SUBJECT_SIZE];
            snprintf(answers, sizeof answers, "%s.*", self->inbox);
            status = natsConnection_SubscribeSync(&self->answers, self->link->connection, answers);
        }
    }
    int64_t patience = (int64_t)ceil(timeout * 1e3);
    return status == NATS_OK ? natsConnection_FlushTimeout(self->link->connection, patience > 0 ? patience : 1)
                             : status;
}

static const one_way_carrier operations = {
    .receive = receive_nats, .end = end_nats, .unsubscribe = unsubscribe_nats, .send = send_nats, .close = close_nats};

dyn_client_status nats_one_way_open(connection *via, size_t topic_count, char *const *topics, double timeout,
                                    one_way **opened, dyn_client_error *error) {
    nats_one_way *self = calloc(1, sizeof *self);
    reader *readers = calloc(topic_count + 1, sizeof *readers);
    if (!self || !readers || !monotonic_condition_init(&self->changed)) {
        free(self);
        free(readers);
        return fail_memory(error);
    }
    self->base.carrier = &operations;
    self->link = (nats_link *)via;
    nats_link_retain(self->link);
    self->readers = readers;
    pthread_mutex_init(&self->mutex, NULL);
    natsStatus status = prepare(self, topic_count, topics, timeout);
    if (status != NATS_OK) {
        close_nats(&self->base);
        return status == NATS_NO_MEMORY ? fail_memory(error)
                                        : fail(error, DYN_CLIENT_UNREACHABLE, NULL, "cannot use %s for messages: %s",
                                               via->url, natsStatus_GetText(status));
    }
    *opened = &self->base;
    return DYN_CLIENT_OK;
}
