/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Command call: calls any method of the protocol, with JSON in and out.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <dynamics/v1/envelope.pb-c.h>

#include "command.h"
#include "exchange.h"
#include "message_json.h"

/* Returns true if `name` is the field's name in either form: "inverse_dynamics" or "InverseDynamics". */
static bool is_named(const ProtobufCFieldDescriptor *field, const char *name) {
    const char *own = field->name;
    for (; *name != '\0' && *own != '\0'; name++, own++) {
        if (*own == '_' && *name != '_') {
            own++;
        }
        if (tolower((unsigned char)*name) != *own) {
            return false;
        }
    }
    return *name == '\0' && *own == '\0';
}

/* Returns the method's field in the request. If there is none, reports an error with the names of all methods and
 * returns NULL. */
static const ProtobufCFieldDescriptor *find_method(const char *name) {
    const ProtobufCMessageDescriptor *request = &dynamics__v1__request__descriptor;
    for (unsigned i = 0; i < request->n_fields; i++) {
        if ((request->fields[i].flags & PROTOBUF_C_FIELD_FLAG_ONEOF) != 0 && is_named(&request->fields[i], name)) {
            return &request->fields[i];
        }
    }
    complain(EXIT_USAGE, "there is no method \"%s\"; there are:", name);
    for (unsigned i = 0; i < request->n_fields; i++) {
        if ((request->fields[i].flags & PROTOBUF_C_FIELD_FLAG_ONEOF) != 0) {
            fprintf(stderr, "  %s\n", request->fields[i].name);
        }
    }
    return NULL;
}

/* Reads the JSON argument, from standard input if it is "-". Without an argument the object is empty. Reports an error
 * and returns NULL if the text is not JSON. */
static json_t *read_argument(const arguments *args) {
    json_error_t error;
    const char *text = args->positional_count > 1 ? args->positional[1] : "{}";
    json_t *object = strcmp(text, "-") == 0 ? json_loadf(stdin, JSON_REJECT_DUPLICATES, &error)
                                            : json_loads(text, JSON_REJECT_DUPLICATES, &error);
    if (!object) {
        complain(EXIT_USAGE, "not JSON: line %d, column %d: %s", error.line, error.column, error.text);
    }
    return object;
}

/* Writes the result message of the reply as JSON. */
static void write_reply(const Dynamics__V1__Reply *reply) {
    const ProtobufCFieldDescriptor *result =
        protobuf_c_message_descriptor_get_field(reply->base.descriptor, (unsigned)reply->result_case);
    json_writer writer = {.stream = stdout, .pretty = true};
    message_to_json(&writer, MESSAGE_PLAIN, *(ProtobufCMessage *const *)((const char *)reply + result->offset));
    emit_finish(&writer);
}

exit_code run_call(const command *self, const arguments *args, dyn_client *client) {
    (void)self;
    double timeout;
    exit_code code = long_timeout(args, client, &timeout);
    if (code != EXIT_OK) {
        return code;
    }
    const ProtobufCFieldDescriptor *method = find_method(args->positional[0]);
    json_t *object = method ? read_argument(args) : NULL;
    ProtobufCMessage *argument = object ? read_message_json(method->descriptor, object, method->name) : NULL;
    json_decref(object);
    if (!argument) {
        return EXIT_USAGE;
    }
    Dynamics__V1__Request request = DYNAMICS__V1__REQUEST__INIT;
    Dynamics__V1__Reply *reply;
    request.method_case = (Dynamics__V1__Request__MethodCase)method->id;
    *(ProtobufCMessage **)((char *)&request + method->offset) = argument;
    code = exchange(client, &request, timeout, PROTOCOL_FORM, &reply);
    if (code == EXIT_OK) {
        write_reply(reply);
        if (reply->without_rotors) {
            fputs("dynamicsctl: computed without the rotors of the model\n", stderr);
        }
        dynamics__v1__reply__free_unpacked(reply, NULL);
    }
    protobuf_c_message_free_unpacked(argument, NULL);
    return code;
}
