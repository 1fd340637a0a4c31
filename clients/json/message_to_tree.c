/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Converts protobuf messages to trees of JSON values.
 */
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base64.h"
#include "json_text.h"
#include "message_fields.h"
#include "message_json.h"

static json_t *real(double number) {
    return isfinite(number) ? json_real(number) : json_null();
}

/* Converts an unsigned number to a JSON integer, or to text from 2^63 on, since jansson's integers have a sign. */
static json_t *unsigned_number(uint64_t number) {
    char digits[24];
    if (number <= INT64_MAX) {
        return json_integer((json_int_t)number);
    }
    snprintf(digits, sizeof digits, "%" PRIu64, number);
    return json_string(digits);
}

static json_t *word(const ProtobufCEnumDescriptor *type, int value) {
    const ProtobufCEnumValue *known = protobuf_c_enum_descriptor_get_value(type, value);
    return known ? json_string(known->name) : json_integer(value);
}

static json_t *bytes_text(const ProtobufCBinaryData *bytes) {
    char *text = base64_encode(bytes->data, bytes->len);
    json_t *string = text ? json_string(text) : NULL;
    free(text);
    return string;
}

/* Converts one value of a field. `at` is the address of the value. Returns NULL when out of memory. */
static json_t *value_of(message_style style, const ProtobufCFieldDescriptor *field, const void *at) {
    switch (field->type) {
    case PROTOBUF_C_TYPE_INT32:
    case PROTOBUF_C_TYPE_SINT32:
    case PROTOBUF_C_TYPE_SFIXED32:
        return json_integer(*(const int32_t *)at);
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_SINT64:
    case PROTOBUF_C_TYPE_SFIXED64:
        return json_integer(*(const int64_t *)at);
    case PROTOBUF_C_TYPE_UINT32:
    case PROTOBUF_C_TYPE_FIXED32:
        return json_integer(*(const uint32_t *)at);
    case PROTOBUF_C_TYPE_UINT64:
    case PROTOBUF_C_TYPE_FIXED64:
        return unsigned_number(*(const uint64_t *)at);
    case PROTOBUF_C_TYPE_FLOAT:
        return real((double)*(const float *)at);
    case PROTOBUF_C_TYPE_DOUBLE:
        return real(*(const double *)at);
    case PROTOBUF_C_TYPE_BOOL:
        return json_boolean(*(const protobuf_c_boolean *)at);
    case PROTOBUF_C_TYPE_ENUM:
        return word(field->descriptor, *(const int *)at);
    case PROTOBUF_C_TYPE_STRING:
        return json_text(*(const char *const *)at);
    case PROTOBUF_C_TYPE_BYTES:
        return bytes_text(at);
    case PROTOBUF_C_TYPE_MESSAGE:
        return message_to_tree(style, *(const ProtobufCMessage *const *)at);
    }
    return NULL;
}

static json_t *field_tree(message_style style, const ProtobufCMessage *message, const ProtobufCFieldDescriptor *field) {
    const void *place = field_place(message, field);
    bool is_list = field->label == PROTOBUF_C_LABEL_REPEATED || (style == MESSAGE_ROS && field_is_choice(field));
    if (!is_list) {
        return value_of(style, field, place);
    }
    bool is_repeated = field->label == PROTOBUF_C_LABEL_REPEATED;
    const char *values = is_repeated ? *(const char *const *)place : place;
    size_t count = is_repeated ? *field_count(message, field) : 1;
    json_t *list = json_array();
    bool is_whole = list != NULL;
    for (size_t i = 0; is_whole && i < count; i++) {
        is_whole = json_array_append_new(list, value_of(style, field, values + i * field_value_size(field))) == 0;
    }
    if (!is_whole) {
        json_decref(list);
        return NULL;
    }
    return list;
}

json_t *message_to_tree(message_style style, const ProtobufCMessage *message) {
    json_t *tree = json_object();
    bool is_whole = tree != NULL;
    for (unsigned i = 0; is_whole && i < message->descriptor->n_fields; i++) {
        const ProtobufCFieldDescriptor *field = &message->descriptor->fields[i];
        if (field_is_present(message, field)) {
            is_whole = json_object_set_new(tree, field->name, field_tree(style, message, field)) == 0;
        }
    }
    if (!is_whole) {
        json_decref(tree);
        return NULL;
    }
    return tree;
}
