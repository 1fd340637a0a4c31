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

/* 0: the connection is welcome. Else the status of HTTP and the reason for its refusal: 403 for a page of another
 * origin, 401 without the token, 503 beyond the number of connections. */
int admission_check(const bridge *of, const admission_request *request, const char **reason);

/* Is the origin in the list? "*" lets all in; an entry without a port holds for every port. */
bool admission_origin(const config *c, const char *origin);

/* Writes the body for a path; returns the status. */
unsigned admission_serve(const bridge *of, const char *path, FILE *body);

#endif
