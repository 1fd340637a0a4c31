/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Converts protobuf messages of any type from and to JSON by their descriptors. Fields have their names in the
 * .proto files, enums are written by name, bytes as base64, and a oneof as a member for its chosen field.
 */
#ifndef JSON_MESSAGE_JSON_H
#define JSON_MESSAGE_JSON_H

#include <jansson.h>
#include <protobuf-c/protobuf-c.h>

#include "json_writer.h"

enum { MESSAGE_ERROR_SIZE = 512 };

/* Builds a message from a JSON object. The caller frees it with protobuf_c_message_free_unpacked. On failure returns
 * NULL, and `error` is a sentence that begins with the path of the member below `root`, for example "args.q[2]: null is
 * not a number" for the root "args".
 *
 * The function accepts more forms than message_to_json writes: enums without the name of their type ("revolute"), by
 * number, or "" for zero; null for an absent message; a list of at most one element for a message or a member of a
 * oneof, as in languages without absent fields; an object with the keys 0, 1, 2 ... for an array, which is what
 * JSON.stringify makes of a Float64Array; bytes as an array of numbers; 64-bit numbers as text. */
ProtobufCMessage *message_from_json(const ProtobufCMessageDescriptor *type, json_t *object, const char *root,
                                    char error[MESSAGE_ERROR_SIZE]);

/* Form of members of a oneof: plain, or in a list of one element, which is their declared type in ROS. */
typedef enum message_style { MESSAGE_PLAIN, MESSAGE_ROS } message_style;

/* Writes a message as a JSON object with all present fields. */
void message_to_json(json_writer *writer, message_style style, const ProtobufCMessage *message);

/* Returns a message as a tree with the members that message_to_json writes; NaN and infinity become null, and
 * unsigned numbers from 2^63 on text, since jansson's integers have a sign. Strings that are not UTF-8 become those of
 * json_text. Returns NULL when out of memory. */
json_t *message_to_tree(message_style style, const ProtobufCMessage *message);

#endif
