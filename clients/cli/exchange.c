/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sends requests as messages of the protocol.
 */
#include "exchange.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json_line.h"
#include "message_json.h"

ProtobufCMessage *read_message_json(const ProtobufCMessageDescriptor *type, json_t *value, const char *root) {
    char error[MESSAGE_ERROR_SIZE];
    ProtobufCMessage *message = message_from_json(type, value, root, error);
    if (!message) {
        complain(EXIT_USAGE, "%s", error);
    }
    return message;
}

/* Reports an error with its place, and with the line of the field where the text has it. */
static exit_code complain_at(const dyn_client_error *error, const request_origin *origin) {
    size_t length = origin->prefix ? strlen(origin->prefix) : 0;
    char place[4096];
    if (!origin->text || !origin->place || strncmp(error->field, origin->prefix, length) != 0) {
        return complain_call(error, origin->place);
    }
    snprintf(place, sizeof place, "%s:%zu", origin->place, json_line_of(origin->text, error->field + length));
    return complain_call(error, place);
}

/* Unpacks the reply. Reports an error if the reply is malformed, is an error of the daemon, or is of another method. */
static exit_code read_reply(const void *bytes, size_t size, unsigned method, const request_origin *origin,
                            Dynamics__V1__Reply **reply) {
    *reply = dynamics__v1__reply__unpack(NULL, size, bytes);
    if (!*reply) {
        return complain(EXIT_FAILED, "the reply is none of dynamics.v1");
    }
    exit_code code = EXIT_OK;
    dyn_client_error error;
    if (dyn_client_reply_status(bytes, size, &error) != DYN_CLIENT_OK) {
        code = complain_at(&error, origin);
    } else if ((unsigned)(*reply)->result_case != method) {
        code = complain(EXIT_FAILED, "the reply holds no result of this method that this program knows");
    }
    if (code != EXIT_OK) {
        dynamics__v1__reply__free_unpacked(*reply, NULL);
        *reply = NULL;
    }
    return code;
}

exit_code long_timeout(const arguments *args, dyn_client *client, double *timeout) {
    exit_code code = arguments_timeout(args, timeout);
    /* A call that runs as a job uses the client's timeout, which the daemon's limit of requests does not bound. */
    if (code != EXIT_OK || *timeout > 0 || args->value[OPTION_JOB]) {
        return code;
    }
    dyn_client_error error;
    dyn_client_server_info *info;
    if (dyn_client_get_server_info(client, 0, &info, &error) != DYN_CLIENT_OK) {
        return complain_call(&error, NULL);
    }
    /* The client reserves a tenth of the timeout, at most a second, for the reply. */
    *timeout = info->limits.request_time + fmin(info->limits.request_time / 9, 1);
    dyn_client_server_info_free(info);
    return EXIT_OK;
}

exit_code exchange(dyn_client *client, const Dynamics__V1__Request *request, double timeout, const char *place,
                   Dynamics__V1__Reply **reply) {
    const request_origin origin = {.place = place};
    return exchange_from(client, request, timeout, &origin, reply);
}

exit_code exchange_from(dyn_client *client, const Dynamics__V1__Request *request, double timeout,
                        const request_origin *origin, Dynamics__V1__Reply **reply) {
    *reply = NULL;
    size_t size = dynamics__v1__request__get_packed_size(request), reply_size;
    uint8_t *bytes = malloc(size > 0 ? size : 1);
    if (!bytes) {
        return complain_memory();
    }
    dynamics__v1__request__pack(request, bytes);
    dyn_client_error error;
    void *answer = NULL;
    exit_code code = EXIT_OK;
    if (dyn_client_call(client, bytes, size, timeout, &answer, &reply_size, &error) != DYN_CLIENT_OK) {
        code = complain_at(&error, origin);
    } else {
        code = read_reply(answer, reply_size, (unsigned)request->method_case, origin, reply);
    }
    dyn_client_free(answer);
    free(bytes);
    return code;
}
