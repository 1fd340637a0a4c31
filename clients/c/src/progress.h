/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Progress of one request: a thread of its own receives the request's events while the request is under way, reports to
 * the caller, and cancels the request when the caller asks for it.
 */
#ifndef CLIENT_PROGRESS_H
#define CLIENT_PROGRESS_H

#include "call.h"

typedef struct progress progress;

/* Reports the beginning of the request to terms->progress, which is set, and names the request so that the daemon
 * publishes its progress and can cancel it. A thread reports until progress_stop. CANCELLED: the callback wants no
 * request. */
dyn_client_status progress_start(dyn_client *client, Dynamics__V1__Request *request, const call_terms *terms,
                                 progress **started, dyn_client_error *error);

/* Ends the thread. NULL is ignored. */
void progress_stop(progress *stopped);

#endif
