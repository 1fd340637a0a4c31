/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads and checks the members of a message of the rosbridge protocol.
 */
#ifndef ROSBRIDGE_REQUEST_H
#define ROSBRIDGE_REQUEST_H

#include "peer.h"

/* Message that is being handled. */
typedef struct request {
    peer *peer;
    json_t *message;
    json_t *id; /* NULL: none */
    const char *op;
    size_t size; /* bytes of the message */
} request;

/* Answers with a status of the level error and returns false, for the caller to return. */
bool request_refuse(const request *refused, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Reads a member that must be a name of ROS, and writes it with a leading slash. Refuses the message and returns false
 * for anything else. */
bool request_name(const request *from, const char *member, char name[256]);

/* Returns true if the name in a member has no leading slash. Clients match their topics and services by their own
 * spelling, so messages to them use that spelling. */
bool request_is_bare(const request *from, const char *member);

/* Returns a member that is a string, or "" if it is absent. Returns NULL if it was refused. */
const char *request_text(const request *from, const char *member);

/* Reads a non-negative number; `standard` is its value if it is absent or null. Returns false if it was refused. */
bool request_number(const request *from, const char *member, double standard, double *number);

/* Reads the members compression and fragment_size. Returns false if they were refused. */
bool request_encoding(const request *from, encoding *wanted);

#endif
