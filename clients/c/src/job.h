/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls that run as jobs: start, wait and fetch in the place of one request.
 */
#ifndef CLIENT_JOB_H
#define CLIENT_JOB_H

#include "call.h"

/* Returns whether a job can compute the method of a request. */
bool job_can_run(const Dynamics__V1__Request *request);

/* Runs a request as a job, as call() does for an ordinary one, and waits for it. `patience` is in seconds. */
dyn_client_status job_call(dyn_client *client, Dynamics__V1__Request *request, const call_terms *terms, double patience,
                           call_reply *answer, dyn_client_error *error);

#endif
