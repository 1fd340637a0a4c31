/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Subscriber of the daemon's events (nng SUB). Messages arrive on a thread of nng and pass to the event loop.
 */
#ifndef ROSBRIDGE_EVENT_READER_H
#define ROSBRIDGE_EVENT_READER_H

#include <dynamics/v1/event.pb-c.h>

#include "bridge.h"

typedef struct event_reader event_reader;

/* Handler of an event of the daemon, called on the event loop. */
typedef void (*event_handler)(void *user, const char *topic, const Dynamics__V1__Event *event);

/* Subscribes to the topics "models" and "progress/..." at `address` and reconnects when the connection is lost. Returns
 * NULL for an invalid address, or when out of memory. */
event_reader *event_reader_start(bridge *of, const char *address, event_handler handle, void *user);

/* Subscribes to two more topics at another address, until event_reader_forget. Returns the number of the address, or 0
 * if it cannot be dialled. */
int event_reader_watch(event_reader *reader, const char *address, const char *const topics[2]);

/* Ends a subscription of event_reader_watch and closes the address of this number. */
void event_reader_forget(event_reader *reader, int number, const char *const topics[2]);

void event_reader_stop(event_reader *stopped);

#endif
