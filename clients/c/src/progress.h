/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The progress of one long request: its events are received by a thread of its own while the request is under way, and
 * the request is cancelled where the caller wants no more of it.
 */
#ifndef CLIENT_PROGRESS_H
#define CLIENT_PROGRESS_H

#include <dynamics/v1/envelope.pb-c.h>

#include "dynamics_client.h"

typedef struct progress progress;

/* Names the request, asks the daemon to report on it, and starts to listen. NULL where `report` is, or where the events
 * cannot be had: the request is then made without them. */
progress *progress_start(dyn_client *client, Dynamics__V1__Request *request, dyn_client_progress report, void *context);

/* Ends the thread. NULL is ignored. */
void progress_stop(progress *stopped);

#endif
