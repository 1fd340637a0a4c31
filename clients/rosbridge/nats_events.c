/* SPDX-License-Identifier: BSD-2-Clause */
/* Receives the events of a daemon over NATS. */
#include "nats_events.h"

#include <stdlib.h>
#include <string.h>

enum { TOPIC_SIZE = 128, TOPICS = 2 };

/* Seconds within which a thread notices the end of its subscription, and between two attempts to subscribe. */
static const double ATTENTION = 0.1;

/* Seconds that the NATS server has to confirm a subscription. */
static const double SUBSCRIBE_TIME = 2;

/* A subscription. Its thread frees it. */
typedef struct topic_thread {
    nats_events *owner;
    struct topic_thread *next;
    int number;
    bool is_of_one_daemon; /* ends with the daemon of its objects */
    bool is_ended;         /* guarded by the owner's mutex */
    char topics[TOPICS][TOPIC_SIZE];
} topic_thread;

struct nats_events {
    event_queue *queue;
    daemon_link *link;
    pthread_mutex_t mutex; /* guards the fields below */
    pthread_cond_t ended;
    topic_thread *threads; /* those that run */
    int last_number;
};

static bool is_ended(topic_thread *self) {
    pthread_mutex_lock(&self->owner->mutex);
    bool is_over = self->is_ended;
    pthread_mutex_unlock(&self->owner->mutex);
    return is_over;
}

/* Copies a message into the queue. */
static void pass_on(event_queue *queue, const char *topic, const void *event, size_t size) {
    size_t length = strlen(topic) + 1;
    uint8_t *bytes = malloc(length + size);
    if (bytes) {
        memcpy(bytes, topic, length);
        memcpy(bytes + length, event, size);
        event_queue_put(queue, &(event_message){bytes, length + size, bytes, free});
    }
}

/* Receives messages until the subscription or its daemon has ended. */
static void receive(topic_thread *self, dyn_client *client, dyn_client_subscription *subscription) {
    dyn_client_status status = DYN_CLIENT_OK;
    dyn_client_error error;
    while ((status == DYN_CLIENT_OK || status == DYN_CLIENT_TIMEOUT) && !is_ended(self) &&
           daemon_link_is_current(self->owner->link, client)) {
        const char *topic;
        const void *event;
        size_t size;
        status = dyn_client_subscription_next(subscription, ATTENTION, &topic, &event, &size, &error);
        if (status == DYN_CLIENT_OK) {
            pass_on(self->owner->queue, topic, event, size);
        }
    }
}

/* Subscribes at the daemon that answers now, and receives. */
static void subscribe(topic_thread *self) {
    daemon_link *link = self->owner->link;
    dyn_client_subscription *subscription;
    dyn_client_error error;
    const char *const topics[TOPICS] = {self->topics[0], self->topics[1]};
    dyn_client *client = daemon_link_get(link, &error);
    if (client &&
        dyn_client_subscribe(client, 0, NULL, TOPICS, topics, SUBSCRIBE_TIME, &subscription, &error) == DYN_CLIENT_OK) {
        receive(self, client, subscription);
        dyn_client_subscription_close(subscription);
    }
    daemon_link_put(link, client, NULL);
}

static void leave(topic_thread *self) {
    nats_events *owner = self->owner;
    pthread_mutex_lock(&owner->mutex);
    topic_thread **place = &owner->threads;
    while (*place != self) {
        place = &(*place)->next;
    }
    *place = self->next;
    pthread_cond_signal(&owner->ended);
    pthread_mutex_unlock(&owner->mutex);
    free(self);
}

static void *run(void *user) {
    topic_thread *self = user;
    subscribe(self);
    while (!self->is_of_one_daemon && !is_ended(self)) {
        nanosleep(&(struct timespec){.tv_nsec = (long)(ATTENTION * 1e9)}, NULL);
        subscribe(self);
    }
    leave(self);
    return NULL;
}

/* Starts a thread for two topics. Returns its number, or 0 on failure. */
static int start_thread(nats_events *of, bool is_of_one_daemon, const char *const topics[TOPICS]) {
    topic_thread *started = calloc(1, sizeof *started);
    pthread_t thread;
    if (!started) {
        return 0;
    }
    started->owner = of;
    started->is_of_one_daemon = is_of_one_daemon;
    for (int i = 0; i < TOPICS; i++) {
        strncpy(started->topics[i], topics[i], TOPIC_SIZE - 1);
    }
    pthread_mutex_lock(&of->mutex);
    int number = ++of->last_number;
    started->number = number;
    started->next = of->threads;
    bool is_started = pthread_create(&thread, NULL, run, started) == 0;
    if (is_started) {
        pthread_detach(thread);
        of->threads = started;
    }
    pthread_mutex_unlock(&of->mutex);
    if (!is_started) {
        free(started);
    }
    return is_started ? number : 0;
}

nats_events *nats_events_start(event_queue *queue, daemon_link *link) {
    static const char *const topics[TOPICS] = {"models", "progress/*"};
    nats_events *self = calloc(1, sizeof *self);
    if (!self) {
        return NULL;
    }
    self->queue = queue;
    self->link = link;
    pthread_mutex_init(&self->mutex, NULL);
    pthread_cond_init(&self->ended, NULL);
    if (start_thread(self, false, topics) == 0) {
        nats_events_stop(self);
        return NULL;
    }
    return self;
}

int nats_events_watch(nats_events *of, const char *const topics[TOPICS]) {
    return start_thread(of, true, topics);
}

void nats_events_forget(nats_events *of, int number) {
    pthread_mutex_lock(&of->mutex);
    for (topic_thread *each = of->threads; each; each = each->next) {
        each->is_ended = each->is_ended || each->number == number;
    }
    pthread_mutex_unlock(&of->mutex);
}

void nats_events_stop(nats_events *stopped) {
    pthread_mutex_lock(&stopped->mutex);
    for (topic_thread *each = stopped->threads; each; each = each->next) {
        each->is_ended = true;
    }
    while (stopped->threads) {
        pthread_cond_wait(&stopped->ended, &stopped->mutex);
    }
    pthread_mutex_unlock(&stopped->mutex);
    pthread_cond_destroy(&stopped->ended);
    pthread_mutex_destroy(&stopped->mutex);
    free(stopped);
}
