/*
 * Protobuf messages of any type from and to JSON, by their descriptors: names of fields as in the .proto files, enums
 * by name, a member for the chosen field of a oneof.
 */
#ifndef CLI_MESSAGE_JSON_H
#define CLI_MESSAGE_JSON_H

#include <protobuf-c/protobuf-c.h>
#include <jansson.h>

#include "json_writer.h"

enum { MESSAGE_ERROR_SIZE = 512 };

/* Builds a message from a JSON object; it is freed with protobuf_c_message_free_unpacked. NULL: `error` is a sentence
 * that begins with the path of the member, "q[2]: ...". */
ProtobufCMessage *message_from_json(const ProtobufCMessageDescriptor *type, json_t *object,
                                    char error[MESSAGE_ERROR_SIZE]);

/* Writes a message as a JSON object, with all fields that are not absent messages. */
void message_to_json(json_writer *writer, const ProtobufCMessage *message);

#endif
