/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs a call as a job of the daemon: starts the job, waits for it and fetches its result.
 */
#ifndef CLIENT_JOB_H
#define CLIENT_JOB_H

#include "call.h"

/* Returns true if the daemon can compute the method of a request as a job. */
bool job_can_run(const Dynamics__V1__Request *request);

/* Runs a request as a job and waits for its result, at most `patience` seconds. On success `answer` holds the result of
 * the request's method; the caller frees it with call_reply_free. */
dyn_client_status job_call(dyn_client *client, Dynamics__V1__Request *request, const call_terms *terms, double patience,
                           call_reply *answer, dyn_client_error *error);

#endif
