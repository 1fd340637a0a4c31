/*
 * Who may connect, and what may be asked by plain HTTP.
 */
#ifndef ROSBRIDGE_ADMISSION_H
#define ROSBRIDGE_ADMISSION_H

#include <stdio.h>

#include "bridge.h"

typedef struct admission_request {
    const char *origin;        /* of the page, told by browsers; NULL: no browser */
    const char *authorization; /* "Bearer TOKEN", or empty */
    const char *token;         /* of the address, or empty */
} admission_request;

/* Statuses of HTTP for those who may not connect. */
enum { ADMISSION_TOKEN = 401, ADMISSION_ORIGIN = 403, ADMISSION_LATER = 503 };

/* 0: the connection is welcome. Else the status of HTTP and the reason, a constant of less than 124 bytes: ORIGIN for a
 * page of another origin, TOKEN without the token, LATER beyond the number of connections and while the gateway stops.
 */
int admission_check(const bridge *of, const admission_request *request, const char **reason);

/* Is the origin in the list? "*" lets all in; an entry without a port holds for every port. */
bool admission_origin(const config *c, const char *origin);

/* Writes the body for a path; returns the status. It tells counters alone, so that no token is asked for. */
unsigned admission_serve(const bridge *of, const char *path, FILE *body);

#endif
