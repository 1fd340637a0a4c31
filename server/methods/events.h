/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Events that the daemon publishes to its subscribers: those about the daemon itself. Topics of simulations and streams
 * have endpoints of their own (topic.h).
 */
#ifndef SERVER_METHODS_EVENTS_H
#define SERVER_METHODS_EVENTS_H

#include "dynamics/v1/event.pb-c.h"
#include "transport/transport.h"

/* Publisher of the events about the daemon. */
typedef struct events {
    transport *transport;    /* NULL: not open yet */
    uint64_t instance;       /* instance number of the daemon, sent in each event */
    uint64_t model_sequence; /* last number on the topic "models"; its publisher alone uses it (model_events.h) */
} events;

/* Completes an event with its number, the time and the instance, and publishes it. The transport must be open. Drops
 * the event when out of memory. Any thread. */
void events_publish(events *e, const char *topic, uint64_t sequence, Dynamics__V1__Event *event);

/* Publishes the progress of a long request on the topic "progress/<number>". Does nothing before the transport is open.
 * Any thread. */
void events_publish_progress(events *e, uint64_t sequence, const Dynamics__V1__ProgressEvent *progress);

#endif
