/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Admission of connections, and requests by plain HTTP.
 */
#ifndef ROSBRIDGE_ADMISSION_H
#define ROSBRIDGE_ADMISSION_H

#include <stdio.h>

#include "bridge.h"

typedef struct admission_request {
    const char *origin;        /* header Origin, which browsers send; NULL: absent, no browser; empty: of no page */
    const char *authorization; /* "Bearer TOKEN", or empty */
    const char *token;         /* of the address, or empty */
} admission_request;

/* Statuses of HTTP for those who may not connect. */
enum { ADMISSION_TOKEN = 401, ADMISSION_ORIGIN = 403, ADMISSION_LATER = 503 };

/* 0: the connection is welcome. Else the status of HTTP and the reason, a constant of less than 124 bytes: ORIGIN for a
 * page of another origin, TOKEN without the token, LATER beyond the number of connections and while the gateway stops.
 */
int admission_check(const bridge *of, const admission_request *request, const char **reason);

/* Tells if the list allows the origin. "*" allows every one; an entry without a port allows every port. An empty origin
 * and "null" are origins as others: "*" alone allows the empty one, "*" and "null" allow "null". */
bool admission_origin(const config *c, const char *origin);

/* Writes the body for a path; returns the status. It tells counters alone, so that no token is asked for. */
unsigned admission_serve(const bridge *of, const char *path, FILE *body);

#endif
