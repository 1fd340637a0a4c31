/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Subscriber of the daemon's events, over the carrier of the gateway's requests: nng or NATS. Messages arrive on other
 * threads and pass to the event loop.
 */
#ifndef ROSBRIDGE_EVENT_READER_H
#define ROSBRIDGE_EVENT_READER_H

#include "event_queue.h"

typedef struct event_reader event_reader;

/* Subscribes to the topics "models" and "progress/..." of the configured daemon and reconnects when the connection is
 * lost. Returns NULL for an invalid address, or when out of memory. */
event_reader *event_reader_start(bridge *of, event_handler handle, void *user);

/* Subscribes to two more topics until event_reader_forget: over nng at one of the addresses, the one with the transport
 * of the daemon's events or else the first. Returns the number of the subscription, or 0 if there is none. */
int event_reader_watch(event_reader *reader, size_t address_count, char *const *addresses, const char *const topics[2]);

/* Ends a subscription of event_reader_watch by its number. */
void event_reader_forget(event_reader *reader, int number, const char *const topics[2]);

void event_reader_stop(event_reader *stopped);

#endif
