/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Decides which connections are admitted, and answers requests by plain HTTP.
 */
#ifndef ROSBRIDGE_ADMISSION_H
#define ROSBRIDGE_ADMISSION_H

#include <stdio.h>

#include "bridge.h"

typedef struct admission_request {
    const char *origin;        /* header Origin, which browsers send; NULL: absent, so not from a browser; "": empty */
    const char *authorization; /* "Bearer TOKEN", or empty */
    const char *token;         /* argument "token" of the address, or empty */
} admission_request;

/* HTTP statuses of refused connections. */
enum { ADMISSION_TOKEN = 401, ADMISSION_ORIGIN = 403, ADMISSION_LATER = 503 };

/* Returns 0 if the connection is admitted. Otherwise returns an HTTP status and the reason, a constant of less than 124
 * bytes. ADMISSION_ORIGIN: a page of another origin. ADMISSION_TOKEN: the token is missing or wrong. ADMISSION_LATER:
 * too many connections, or the gateway is stopping. */
int admission_check(const bridge *of, const admission_request *request, const char **reason);

/* Returns true if the list of origins allows the origin. "*" allows every origin; an entry without a port allows every
 * port. An empty origin needs "*"; the origin "null" needs "*" or "null". */
bool admission_origin(const config *c, const char *origin);

/* Writes the body for a path and returns the HTTP status; /healthz: 503 while the daemon does not serve. The body holds
 * only counters, fixed texts, and the reason why the daemon does not serve, so it needs no token. */
unsigned admission_serve(const bridge *of, const char *path, FILE *body);

#endif
