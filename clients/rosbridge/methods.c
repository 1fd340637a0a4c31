/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds the methods of the daemon in the wire contract, serializes their requests and unpacks their replies.
 */
#include "methods.h"

#include <dynamics/v1/envelope.pb-c.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "joint_state.h"
#include "message_fields.h"
#include "message_json.h"

static const ProtobufCMessageDescriptor *const requests = &dynamics__v1__request__descriptor;

size_t method_count(void) {
    size_t count = 0;
    for (unsigned i = 0; i < requests->n_fields; i++) {
        count += field_is_choice(&requests->fields[i]);
    }
    return count;
}

method method_get(size_t index) {
    for (unsigned i = 0; i < requests->n_fields; i++) {
        if (field_is_choice(&requests->fields[i]) && index-- == 0) {
            return &requests->fields[i];
        }
    }
    return NULL;
}

method method_find(const char *service) {
    size_t prefix = strlen(METHOD_PREFIX);
    if (strncmp(service, METHOD_PREFIX, prefix) != 0) {
        return NULL;
    }
    method found = protobuf_c_message_descriptor_get_field_by_name(requests, service + prefix);
    return found && field_is_choice(found) ? found : NULL;
}

void method_service(method of, char service[METHOD_NAME_SIZE]) {
    snprintf(service, METHOD_NAME_SIZE, METHOD_PREFIX "%s", of->name);
}

const ProtobufCMessageDescriptor *method_request(method of) {
    return of->descriptor;
}

const ProtobufCMessageDescriptor *method_reply(method of) {
    return protobuf_c_message_descriptor_get_field(&dynamics__v1__reply__descriptor, of->id)->descriptor;
}

void method_type(method of, char type[METHOD_NAME_SIZE]) {
    snprintf(type, METHOD_NAME_SIZE, "%s", method_request(of)->short_name);
    char *end = strstr(type, "Request");
    if (end && strcmp(end, "Request") == 0) {
        *end = '\0';
    }
}

/* Returns the positional arguments as an object with the names of the fields. Returns NULL and writes `error` if there
 * are too many. */
static json_t *name_arguments(const ProtobufCMessageDescriptor *type, const json_t *list, char *error) {
    if (json_array_size(list) > type->n_fields) {
        snprintf(error, METHOD_ERROR_SIZE, "args: %zu arguments, but %s has %u fields", json_array_size(list),
                 type->short_name, type->n_fields);
        return NULL;
    }
    json_t *named = json_object();
    for (size_t i = 0; i < json_array_size(list); i++) {
        json_object_set(named, type->fields[i].name, json_array_get(list, i));
    }
    return named;
}

static uint8_t *pack(method of, ProtobufCMessage *argument, uint64_t progress, size_t *size) {
    Dynamics__V1__Request request = DYNAMICS__V1__REQUEST__INIT;
    request.method_case = (Dynamics__V1__Request__MethodCase)of->id;
    request.progress = progress;
    *(ProtobufCMessage **)field_place(&request.base, of) = argument;
    *size = dynamics__v1__request__get_packed_size(&request);
    uint8_t *bytes = malloc(*size > 0 ? *size : 1);
    if (bytes) {
        dynamics__v1__request__pack(&request, bytes);
    }
    return bytes;
}

uint8_t *method_pack(method of, json_t *arguments, const coordinates *joints, uint64_t progress, size_t *size,
                     char error[METHOD_ERROR_SIZE]) {
    const ProtobufCMessageDescriptor *type = method_request(of);
    json_t *named = json_is_array(arguments) ? name_arguments(type, arguments, error) : json_incref(arguments);
    if (named && !joint_state_convert(type, named, joints, error)) {
        json_decref(named);
        named = NULL;
    }
    char wrong[MESSAGE_ERROR_SIZE];
    ProtobufCMessage *argument = named ? message_from_json(type, named, "args", wrong) : NULL;
    if (named && !argument) {
        snprintf(error, METHOD_ERROR_SIZE, "%s", wrong);
    }
    json_decref(named);
    if (!argument) {
        return NULL;
    }
    uint8_t *bytes = pack(of, argument, progress, size);
    protobuf_c_message_free_unpacked(argument, NULL);
    if (!bytes) {
        snprintf(error, METHOD_ERROR_SIZE, "out of memory");
    }
    return bytes;
}

/* Writes the daemon's error with the caller's paths: "inverse_dynamics.q[2]" becomes "args.q[2]". */
static void write_refusal(method of, const Dynamics__V1__Status *status, char error[METHOD_ERROR_SIZE]) {
    const ProtobufCEnumValue *code =
        protobuf_c_enum_descriptor_get_value(&dynamics__v1__code__descriptor, (int)status->code);
    size_t length = strlen(of->name);
    const char *field = status->field;
    bool is_ours = strncmp(field, of->name, length) == 0 && (field[length] == '.' || field[length] == '\0');
    const char *name = code ? code->name + strlen("CODE_") : "UNKNOWN";
    bool has_reason = status->reason[0] != '\0' && strcmp(status->reason, name) != 0;
    snprintf(error, METHOD_ERROR_SIZE, "%s%s%s%s (%s%s%s)", is_ours ? "args" : "", is_ours ? field + length : field,
             field[0] != '\0' ? ": " : "", status->message, name, has_reason ? ", " : "",
             has_reason ? status->reason : "");
}

ProtobufCMessage *method_unpack(method of, const uint8_t *bytes, size_t size, char error[METHOD_ERROR_SIZE]) {
    ProtobufCMessage *result = NULL;
    Dynamics__V1__Reply *reply = dynamics__v1__reply__unpack(NULL, size, bytes);
    if (!reply) {
        snprintf(error, METHOD_ERROR_SIZE, "the daemon's reply is none of dynamics.v1 (INTERNAL)");
    } else if (reply->status && reply->status->code != DYNAMICS__V1__CODE__CODE_OK) {
        write_refusal(of, reply->status, error);
    } else if ((uint32_t)reply->result_case != of->id) {
        snprintf(error, METHOD_ERROR_SIZE, "the daemon's reply holds no result of %s (INTERNAL)", of->name);
    } else {
        const ProtobufCFieldDescriptor *field =
            protobuf_c_message_descriptor_get_field(&dynamics__v1__reply__descriptor, of->id);
        ProtobufCMessage **place = field_place(&reply->base, field);
        result = *place;
        *place = NULL;
        reply->result_case = DYNAMICS__V1__REPLY__RESULT__NOT_SET;
    }
    if (reply) {
        dynamics__v1__reply__free_unpacked(reply, NULL);
    }
    return result;
}
