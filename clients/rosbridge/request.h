/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A message of the rosbridge protocol while it is handled: its members, read and checked.
 */
#ifndef ROSBRIDGE_REQUEST_H
#define ROSBRIDGE_REQUEST_H

#include "peer.h"

/* A message while it is handled. */
typedef struct request {
    peer *peer;
    json_t *message;
    json_t *id; /* NULL: none */
    const char *op;
    size_t size; /* bytes that it came in */
} request;

/* Answers with a status of the level error; false, for the caller to return. */
bool request_refuse(const request *refused, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A member that must be a name of ROS; false: refused. */
bool request_name(const request *from, const char *member, char name[256]);

/* Has the name in a member no leading slash? Clients find their topics and services by their own spelling, so it is
 * that of what goes to them. */
bool request_is_bare(const request *from, const char *member);

/* A member that is a string; "" where it is absent. NULL: refused. */
const char *request_text(const request *from, const char *member);

/* A member that is a number from 0; `standard` where it is absent or null. False: refused. */
bool request_number(const request *from, const char *member, double standard, double *number);

/* compression and fragment_size. False: refused. */
bool request_encoding(const request *from, encoding *wanted);

#endif
