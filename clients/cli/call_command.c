/*
 * call: any method of the protocol, JSON in and out.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <dynamics/v1/envelope.pb-c.h>

#include "command.h"
#include "message_json.h"

/* Is `name` this field's name: "inverse_dynamics" or "InverseDynamics"? */
static bool is_named(const ProtobufCFieldDescriptor *field, const char *name) {
    const char *own = field->name;
    for (; *name != '\0' && *own != '\0'; name++, own++) {
        if (*own == '_' && *name != '_')
            own++;
        if (tolower((unsigned char)*name) != *own)
            return false;
    }
    return *name == '\0' && *own == '\0';
}

/* The method's field in the request; NULL: none, told with the list of all. */
static const ProtobufCFieldDescriptor *find_method(const char *name) {
    const ProtobufCMessageDescriptor *request = &dynamics__v1__request__descriptor;
    for (unsigned i = 0; i < request->n_fields; i++)
        if ((request->fields[i].flags & PROTOBUF_C_FIELD_FLAG_ONEOF) != 0 && is_named(&request->fields[i], name))
            return &request->fields[i];
    complain(EXIT_USAGE, "there is no method \"%s\"; there are:", name);
    for (unsigned i = 0; i < request->n_fields; i++)
        if ((request->fields[i].flags & PROTOBUF_C_FIELD_FLAG_ONEOF) != 0)
            fprintf(stderr, "  %s\n", request->fields[i].name);
    return NULL;
}

/* Reads the JSON argument, "-" from standard input; an empty object where there is none. */
static json_t *read_argument(const arguments *given) {
    json_error_t error;
    const char *text = given->positional_count > 1 ? given->positional[1] : "{}";
    json_t *object = strcmp(text, "-") == 0 ? json_loadf(stdin, JSON_REJECT_DUPLICATES, &error)
                                            : json_loads(text, JSON_REJECT_DUPLICATES, &error);
    if (object == NULL)
        complain(EXIT_USAGE, "not JSON: line %d, column %d: %s", error.line, error.column, error.text);
    return object;
}

/* Serializes a request of the method; NULL when the argument does not fit, which is told. */
static uint8_t *serialize(const ProtobufCFieldDescriptor *method, json_t *object, size_t *size) {
    char error[MESSAGE_ERROR_SIZE];
    ProtobufCMessage *argument = message_from_json(method->descriptor, object, "", error);
    if (argument == NULL) {
        complain(EXIT_USAGE, "%s: %s", method->name, error);
        return NULL;
    }
    Dynamics__V1__Request request = DYNAMICS__V1__REQUEST__INIT;
    request.method_case = (Dynamics__V1__Request__MethodCase)method->id;
    *(ProtobufCMessage **)((char *)&request + method->offset) = argument;
    *size = dynamics__v1__request__get_packed_size(&request);
    uint8_t *bytes = malloc(*size > 0 ? *size : 1);
    if (bytes != NULL)
        dynamics__v1__request__pack(&request, bytes);
    else
        complain_memory();
    protobuf_c_message_free_unpacked(argument, NULL);
    return bytes;
}

/* Writes the result of the reply, or tells why there is none. */
static exit_code write_reply(const void *bytes, size_t size) {
    Dynamics__V1__Reply *reply = dynamics__v1__reply__unpack(NULL, size, bytes);
    if (reply == NULL)
        return complain(EXIT_FAILED, "the reply is none of dynamics.v1");
    exit_code code = EXIT_OK;
    if (reply->status != NULL && reply->status->code != DYNAMICS__V1__CODE__CODE_OK) {
        dyn_client_error error = {.status = (dyn_client_status)reply->status->code};
        snprintf(error.field, sizeof error.field, "%s", reply->status->field);
        snprintf(error.message, sizeof error.message, "%s", reply->status->message);
        code = complain_call(&error, NULL);
    } else {
        const ProtobufCFieldDescriptor *result =
            protobuf_c_message_descriptor_get_field(reply->base.descriptor, (unsigned)reply->result_case);
        if (result != NULL) {
            json_writer writer = {.stream = stdout, .pretty = true};
            message_to_json(&writer, MESSAGE_PLAIN, *(ProtobufCMessage *const *)((const char *)reply + result->offset));
            emit_finish(&writer);
        } else {
            code = complain(EXIT_FAILED, "the reply holds no result that this program knows");
        }
    }
    dynamics__v1__reply__free_unpacked(reply, NULL);
    return code;
}

exit_code run_call(const command *self, const arguments *given, dyn_client *client) {
    (void)self;
    double timeout;
    exit_code code = arguments_timeout(given, &timeout);
    if (code != EXIT_OK)
        return code;
    const ProtobufCFieldDescriptor *method = find_method(given->positional[0]);
    json_t *object = method != NULL ? read_argument(given) : NULL;
    size_t size, reply_size;
    uint8_t *request = object != NULL ? serialize(method, object, &size) : NULL;
    json_decref(object);
    if (request == NULL)
        return EXIT_USAGE;
    dyn_client_error error;
    void *reply;
    if (dyn_client_call(client, request, size, timeout, &error, &reply, &reply_size) == DYN_CLIENT_OK)
        code = write_reply(reply, reply_size);
    else
        code = complain_call(&error, NULL);
    dyn_client_free(reply);
    free(request);
    return code;
}
