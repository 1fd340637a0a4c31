/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Subscriber of the events of one daemon at its own endpoints (nng SUB). Messages arrive on a thread of nng.
 */
#ifndef ROSBRIDGE_NNG_EVENTS_H
#define ROSBRIDGE_NNG_EVENTS_H

#include "event_queue.h"

typedef struct nng_events nng_events;

/* Subscribes at `address`, and connects again when the connection is lost. For TLS it uses the files of the address
 * `settings`, which must outlive the subscriber. Returns NULL for an invalid address, or when out of memory. */
nng_events *nng_events_start(event_queue *queue, const char *address, const char *settings);

/* Subscribes to two more topics at another address. Returns the number of the address, or 0 if it cannot be dialled. */
int nng_events_watch(nng_events *of, const char *address, const char *const topics[2]);

/* Ends a subscription of nng_events_watch and closes the address of this number. */
void nng_events_forget(nng_events *of, int number, const char *const topics[2]);

/* Puts no message into the queue any more. */
void nng_events_stop(nng_events *stopped);

#endif
