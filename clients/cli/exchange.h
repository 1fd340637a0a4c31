/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sends requests as messages of the protocol, for commands whose input or output is a message as JSON.
 */
#ifndef CLI_EXCHANGE_H
#define CLI_EXCHANGE_H

#include <dynamics/v1/envelope.pb-c.h>
#include <jansson.h>

#include "arguments.h"
#include "diagnostics.h"

/* Converts JSON to a message of the type and releases the JSON. The caller frees the message with
 * protobuf_c_message_free_unpacked. On failure reports an error whose path begins with `root` and returns NULL. */
ProtobufCMessage *read_message_json(const ProtobufCMessageDescriptor *type, json_t *value, const char *root);

/* Determines the timeout of a long request, s: that of --timeout, otherwise 0 (the client's own) with --job, otherwise
 * the daemon's limit with time for the reply. */
exit_code long_timeout(const arguments *args, dyn_client *client, double *timeout);

/* Origin of a request in errors. */
typedef struct request_origin {
    const char *place;  /* as in complain_call */
    const char *text;   /* JSON at the place, whose lines errors name; NULL: none */
    const char *prefix; /* of fields, before the path in the text, such as "load_model.description." */
} request_origin;

/* As exchange, for a request that was read from a file. */
exit_code exchange_from(dyn_client *client, const Dynamics__V1__Request *request, double timeout,
                        const request_origin *origin, Dynamics__V1__Reply **reply);

/* Sends the request and receives its reply, which the caller frees with dynamics__v1__reply__free_unpacked. Reports
 * failures. `place` (may be NULL) is the origin of the request in errors, as in complain_call. */
exit_code exchange(dyn_client *client, const Dynamics__V1__Request *request, double timeout, const char *place,
                   Dynamics__V1__Reply **reply);

#endif
