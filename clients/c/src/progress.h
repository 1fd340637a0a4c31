/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Progress of one long request. A thread receives its events while the request is running, and cancels the request if
 * the caller's callback returns false.
 */
#ifndef CLIENT_PROGRESS_H
#define CLIENT_PROGRESS_H

#include <dynamics/v1/envelope.pb-c.h>

#include "dynamics_client.h"

typedef struct progress progress;

/* Numbers the request, requests its progress, and starts the thread. Returns NULL if `report` is NULL, or if the events
 * are not available: the request then runs without progress. */
progress *progress_start(dyn_client *client, Dynamics__V1__Request *request, dyn_client_progress report, void *context);

/* Ends the thread. NULL is ignored. */
void progress_stop(progress *stopped);

#endif
