/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes protobuf messages as JSON text.
 */
#include "message_json.h"

#include <stdlib.h>

#include "base64.h"
#include "message_fields.h"

static void write_enum(json_writer *writer, const ProtobufCEnumDescriptor *type, int value) {
    const ProtobufCEnumValue *known = protobuf_c_enum_descriptor_get_value(type, value);
    if (known) {
        emit_string(writer, known->name);
    } else {
        emit_signed(writer, value);
    }
}

static void write_bytes(json_writer *writer, const ProtobufCBinaryData *bytes) {
    char *text = base64_encode(bytes->data, bytes->len);
    emit_string(writer, text);
    free(text);
}

/* Writes one value of a field. `at` is the address of the value. */
static void write_value(json_writer *writer, message_style style, const ProtobufCFieldDescriptor *field,
                        const void *at) {
    switch (field->type) {
    case PROTOBUF_C_TYPE_INT32:
    case PROTOBUF_C_TYPE_SINT32:
    case PROTOBUF_C_TYPE_SFIXED32:
        emit_signed(writer, *(const int32_t *)at);
        break;
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_SINT64:
    case PROTOBUF_C_TYPE_SFIXED64:
        emit_signed(writer, *(const int64_t *)at);
        break;
    case PROTOBUF_C_TYPE_UINT32:
    case PROTOBUF_C_TYPE_FIXED32:
        emit_unsigned(writer, *(const uint32_t *)at);
        break;
    case PROTOBUF_C_TYPE_UINT64:
    case PROTOBUF_C_TYPE_FIXED64:
        emit_unsigned(writer, *(const uint64_t *)at);
        break;
    case PROTOBUF_C_TYPE_FLOAT:
        emit_double(writer, (double)*(const float *)at);
        break;
    case PROTOBUF_C_TYPE_DOUBLE:
        emit_double(writer, *(const double *)at);
        break;
    case PROTOBUF_C_TYPE_BOOL:
        emit_bool(writer, *(const protobuf_c_boolean *)at != 0);
        break;
    case PROTOBUF_C_TYPE_ENUM:
        write_enum(writer, field->descriptor, *(const int *)at);
        break;
    case PROTOBUF_C_TYPE_STRING:
        emit_string(writer, *(const char *const *)at);
        break;
    case PROTOBUF_C_TYPE_BYTES:
        write_bytes(writer, at);
        break;
    case PROTOBUF_C_TYPE_MESSAGE:
        message_to_json(writer, style, *(const ProtobufCMessage *const *)at);
        break;
    }
}

static void write_repeated(json_writer *writer, message_style style, const ProtobufCFieldDescriptor *field,
                           size_t count, const char *values) {
    if (field->type == PROTOBUF_C_TYPE_DOUBLE) {
        emit_doubles(writer, count, (const double *)values);
        return;
    }
    emit_begin_array(writer);
    for (size_t i = 0; i < count; i++) {
        write_value(writer, style, field, values + i * field_value_size(field));
    }
    emit_end_array(writer);
}

/* Writes the chosen member of a oneof as a list of one element, the form of style MESSAGE_ROS. */
static void write_choice(json_writer *writer, const ProtobufCFieldDescriptor *field, const void *at) {
    emit_begin_array(writer);
    write_value(writer, MESSAGE_ROS, field, at);
    emit_end_array(writer);
}

void message_to_json(json_writer *writer, message_style style, const ProtobufCMessage *message) {
    emit_begin_object(writer);
    for (unsigned i = 0; i < message->descriptor->n_fields; i++) {
        const ProtobufCFieldDescriptor *field = &message->descriptor->fields[i];
        const void *place = field_place(message, field);
        if (!field_is_present(message, field)) {
            continue;
        }
        emit_key(writer, field->name);
        if (field->label == PROTOBUF_C_LABEL_REPEATED) {
            write_repeated(writer, style, field, *field_count(message, field), *(const char *const *)place);
        } else if (style == MESSAGE_ROS && field_is_choice(field)) {
            write_choice(writer, field, place);
        } else {
            write_value(writer, style, field, place);
        }
    }
    emit_end_object(writer);
}
