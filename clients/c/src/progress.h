/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reports the progress of one request: a thread of its own receives the request's events while the request is in
 * progress, calls the caller's callback, and cancels the request if the callback returns false.
 */
#ifndef CLIENT_PROGRESS_H
#define CLIENT_PROGRESS_H

#include "call.h"
#include "one_way.h"

typedef struct progress progress;

/* Reports a fraction of 0 to terms->progress, which must be set, and starts a thread that reports until progress_stop.
 * Numbers the progress of the request, so that the daemon publishes it. Returns CANCELLED if the first report returns
 * false; the request must then not be sent. */
dyn_client_status progress_start(dyn_client *client, Dynamics__V1__Request *request, const call_terms *terms,
                                 progress **started, dyn_client_error *error);

/* Returns the completed fraction of the request with the progress number after a message: that of the message, or
 * `fraction` if the message belongs to another request, cannot be read, or states none in (fraction, 1]. */
double progress_after(const incoming *message, uint64_t number, double fraction);

/* Ends the thread and frees the progress. NULL is ignored. */
void progress_stop(progress *stopped);

#endif
