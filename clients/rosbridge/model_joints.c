/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Requests the joints of a model from the daemon.
 */
#include "model_joints.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "joint_state.h"
#include "methods.h"

/* Unpacks the reply of DescribeModel. On failure returns NULL and writes `error`; an error about its argument becomes
 * one about the caller's "args.query.model". */
static ProtobufCMessage *unpack(method describe, const uint8_t *reply, size_t size, char *error) {
    static const char own[] = "args.model";
    char reason[METHOD_ERROR_SIZE];
    ProtobufCMessage *description = method_unpack(describe, reply, size, reason);
    bool is_own = !description && strncmp(reason, own, strlen(own)) == 0;
    if (!description) {
        snprintf(error, METHOD_ERROR_SIZE, "%s%.*s", is_own ? "args.query.model" : "", METHOD_ERROR_SIZE - 32,
                 reason + (is_own ? strlen(own) : 0));
    }
    return description;
}

bool model_joints_request(daemon_link *link, const json_t *arguments, double timeout, coordinates *joints,
                          char *error) {
    const json_t *query = json_is_array(arguments) ? json_array_get(arguments, 0) : json_object_get(arguments, "query");
    json_t *model = json_object_get(joint_state_query(query), "model");
    json_t *question = json_pack("{sO*}", "model", model);
    method describe = method_find("/dynamics/describe_model");
    size_t size = 0, reply_size = 0;
    uint8_t *request = question ? method_pack(describe, question, NULL, false, &size, error) : NULL;
    void *reply = NULL;
    ProtobufCMessage *description = NULL;
    dyn_client_error failure = {0};
    if (!question) {
        snprintf(error, METHOD_ERROR_SIZE, "out of memory (RESOURCE_EXHAUSTED)");
    }
    dyn_client *client = request ? daemon_link_get(link, &failure) : NULL;
    if (client && dyn_client_call(client, request, size, timeout, &reply, &reply_size, &failure) == DYN_CLIENT_OK) {
        description = unpack(describe, reply, reply_size, error);
    } else if (request) {
        snprintf(error, METHOD_ERROR_SIZE, "%s (%s)", failure.message, dyn_client_status_name(failure.status));
    }
    daemon_link_put(link, client, &failure);
    bool is_read = description && coordinates_read(joints, (const Dynamics__V1__DescribeModelReply *)description, NULL);
    if (description && !is_read) {
        snprintf(error, METHOD_ERROR_SIZE, "args.query.model: it has no joints that move (INVALID_ARGUMENT)");
    }
    if (description) {
        protobuf_c_message_free_unpacked(description, NULL);
    }
    dyn_client_free(reply);
    free(request);
    json_decref(question);
    return is_read;
}
