/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Events that the daemon publishes to its subscribers.
 */
#ifndef SERVER_METHODS_EVENTS_H
#define SERVER_METHODS_EVENTS_H

#include <pthread.h>

#include "dynamics/v1/event.pb-c.h"
#include "models/store.h"
#include "transport/transport.h"

/* Numbers and sends the events of the topic "models". */
typedef struct events {
    transport *transport; /* NULL: not open yet */
    uint64_t instance;    /* of the daemon, in each event */
    uint64_t model_sequence;
} events;

/* Publishes the progress of a long request on the topic "progress/<number>". Any thread. */
void events_tell_progress(events *e, uint64_t sequence, const Dynamics__V1__ProgressEvent *progress);

/* Publishes a change of the models. It is the store's listener; `context` is the events. The store serializes the
 * calls. */
void events_on_model_change(void *context, model_change change, const model_entry *entry);

#endif
