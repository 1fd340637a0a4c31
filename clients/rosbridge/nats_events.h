/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Subscriber of the events of a daemon at a NATS server, through the client library. Each subscription has a thread of
 * its own. When the daemon is gone, the events are those of the daemon that answers the gateway then.
 */
#ifndef ROSBRIDGE_NATS_EVENTS_H
#define ROSBRIDGE_NATS_EVENTS_H

#include "daemon_link.h"
#include "event_queue.h"

typedef struct nats_events nats_events;

/* Subscribes where the calls of the link go. Returns NULL when out of memory or threads. */
nats_events *nats_events_start(event_queue *queue, daemon_link *link);

/* Subscribes to two more topics, until the daemon is gone. Returns the number of the subscription, or 0 when out of
 * memory or threads. */
int nats_events_watch(nats_events *of, const char *const topics[2]);

/* Ends the subscription of this number. */
void nats_events_forget(nats_events *of, int number);

/* Puts no message into the queue any more. */
void nats_events_stop(nats_events *stopped);

#endif
