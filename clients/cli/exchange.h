/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Requests in the protocol's own form, for commands whose input is JSON.
 */
#ifndef CLI_EXCHANGE_H
#define CLI_EXCHANGE_H

#include <dynamics/v1/envelope.pb-c.h>
#include <jansson.h>

#include "arguments.h"
#include "diagnostics.h"

/* A message of that type from JSON, which is not kept; `root` names it in what is said when it does not fit (NULL
 * then). Freed with protobuf_c_message_free_unpacked. */
ProtobufCMessage *read_message_json(const ProtobufCMessageDescriptor *type, json_t *value, const char *root);

/* Determines the timeout of a long request: that of --timeout, or the daemon's limit with time for the reply. */
exit_code long_timeout(const arguments *given, dyn_client *client, double *timeout);

/* Sends the request and receives the reply to it, which is freed with dynamics__v1__reply__free_unpacked; tells why
 * there is none. `place` (may be NULL) is the file that the request came from. */
exit_code exchange(dyn_client *client, const Dynamics__V1__Request *request, double timeout, const char *place,
                   Dynamics__V1__Reply **reply);

#endif
