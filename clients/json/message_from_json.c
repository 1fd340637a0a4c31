/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Converts JSON to protobuf messages.
 */
#include "message_json.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base64.h"
#include "json_list.h"
#include "message_fields.h"

/* State of a conversion: the path of the member that is being read, and the caller's buffer for the error sentence. */
typedef struct reading {
    char path[256];
    char *error;
} reading;

static bool refuse_value(const reading *at, const char *format, ...) __attribute__((format(printf, 2, 3)));

static bool refuse_value(const reading *at, const char *format, ...) {
    int written = snprintf(at->error, MESSAGE_ERROR_SIZE, "%s%s", at->path, at->path[0] != '\0' ? ": " : "");
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(at->error + written, MESSAGE_ERROR_SIZE - (size_t)written, format, arguments);
    va_end(arguments);
    return false;
}

/* Writes an error about a value of a wrong type, such as "null is not a number", and returns false. */
static bool refuse_type(const reading *at, const json_t *value, const char *wanted) {
    switch (json_typeof(value)) {
    case JSON_STRING:
        return refuse_value(at, "\"%.64s\" is not %s", json_string_value(value), wanted);
    case JSON_INTEGER:
        return refuse_value(at, "%lld is not %s", (long long)json_integer_value(value), wanted);
    case JSON_REAL:
        return refuse_value(at, "%.17g is not %s", json_real_value(value), wanted);
    case JSON_TRUE:
    case JSON_FALSE:
        return refuse_value(at, "%s is not %s", json_is_true(value) ? "true" : "false", wanted);
    case JSON_NULL:
        return refuse_value(at, "null is not %s", wanted);
    case JSON_ARRAY:
        return refuse_value(at, "an array is not %s", wanted);
    case JSON_OBJECT:
        return refuse_value(at, "an object is not %s", wanted);
    }
    return false;
}

/* ---- one value --------------------------------------------------------------------------------------------------- */

/* Reads a whole number from `low` to `high`. A number without a fraction, such as 3.0, is a whole number. */
static bool read_integer(const reading *at, const json_t *value, double low, double high, json_int_t *number) {
    double real = json_number_value(value);
    if (!json_is_number(value) || real != floor(real)) {
        return refuse_type(at, value, "a whole number");
    }
    if (real < low || real > high) {
        return refuse_value(at, "%.17g is not from %.0f to %.0f", real, low, high);
    }
    *number = json_is_integer(value) ? json_integer_value(value) : (json_int_t)real;
    return true;
}

/* Returns the name of an enum's value without the prefix of its type: "REVOLUTE" for JOINT_TYPE_REVOLUTE of JointType.
 * Returns a name without this prefix unchanged. */
static const char *short_name(const ProtobufCEnumDescriptor *type, const char *name) {
    const char *rest = name;
    for (const char *letter = type->short_name; *letter != '\0'; letter++) {
        if (letter != type->short_name && isupper((unsigned char)*letter) && *rest++ != '_') {
            return name;
        }
        if (*rest++ != toupper((unsigned char)*letter)) {
            return name;
        }
    }
    return *rest == '_' ? rest + 1 : name;
}

static bool read_enum(const reading *at, const ProtobufCEnumDescriptor *type, const json_t *value, int *number) {
    const char *name = json_string_value(value);
    const ProtobufCEnumValue *known = name ? protobuf_c_enum_descriptor_get_value_by_name(type, name) : NULL;
    if (!known && json_is_integer(value) && llabs(json_integer_value(value)) < INT32_MAX) {
        known = protobuf_c_enum_descriptor_get_value(type, (int)json_integer_value(value));
    }
    if (known) {
        *number = known->value;
        return true;
    }
    if (name && name[0] == '\0') {
        return true;
    }
    for (unsigned i = 0; name && i < type->n_values; i++) {
        if (strcasecmp(name, short_name(type, type->values[i].name)) == 0) {
            *number = type->values[i].value;
            return true;
        }
    }
    char names[256] = "";
    size_t written = 0;
    for (unsigned i = 0; i < type->n_values && written < sizeof names; i++) {
        written += (size_t)snprintf(names + written, sizeof names - written, "%s\"%s\"", i > 0 ? ", " : "",
                                    short_name(type, type->values[i].name));
    }
    return refuse_value(at, "pass one of %s", names);
}

static bool read_string(const reading *at, const json_t *value, char **text) {
    if (!json_is_string(value)) {
        return refuse_type(at, value, "a string");
    }
    *text = strdup(json_string_value(value));
    return *text || refuse_value(at, "out of memory");
}

/* Reads bytes from base64, or from an array of numbers from 0 to 255. */
static bool read_bytes(reading *at, const json_t *value, ProtobufCBinaryData *bytes) {
    if (json_is_string(value)) {
        bytes->data = base64_decode(json_string_value(value), json_string_length(value), &bytes->len);
        return bytes->data || refuse_value(at, "the text is not base64");
    }
    if (!json_is_array(value)) {
        return refuse_type(at, value, "base64 or an array of bytes");
    }
    size_t count = json_array_size(value), length = strlen(at->path);
    bytes->data = malloc(count + 1);
    if (!bytes->data) {
        return refuse_value(at, "out of memory");
    }
    for (size_t i = 0; i < count; i++) {
        json_int_t byte = 0;
        snprintf(at->path + length, sizeof at->path - length, "[%zu]", i);
        if (!read_integer(at, json_array_get(value, i), 0, UINT8_MAX, &byte)) {
            return false;
        }
        bytes->data[bytes->len++] = (uint8_t)byte;
    }
    at->path[length] = '\0';
    return true;
}

static bool read_message(reading *at, const ProtobufCMessageDescriptor *type, json_t *object, ProtobufCMessage **read);

/* Reads an integer from `low` to 2^63 - 1. A JSON real is accepted up to 2^63 - 1024, the largest double below 2^63. */
static bool read_int64(const reading *at, const json_t *value, json_int_t low, json_int_t *number) {
    if (json_is_integer(value) && json_integer_value(value) >= low) {
        *number = json_integer_value(value);
        return true;
    }
    return read_integer(at, value, (double)low, 0x1p63 - 1024, number);
}

/* Reads an unsigned 64-bit integer from a number below 2^63, or from decimal text, which JavaScript needs since its
 * numbers have 53 bits. */
static bool read_uint64(const reading *at, const json_t *value, uint64_t *number) {
    const char *text = json_string_value(value);
    char *end = NULL;
    json_int_t small = 0;
    if (text && text[0] >= '0' && text[0] <= '9') {
        errno = 0;
        *number = strtoull(text, &end, 10);
        return (*end == '\0' && errno == 0) || refuse_type(at, value, "a whole number of 64 bits");
    }
    if (!read_int64(at, value, 0, &small)) {
        return false;
    }
    *number = (uint64_t)small;
    return true;
}

static bool read_number(const reading *at, const ProtobufCFieldDescriptor *field, const json_t *value, void *to) {
    json_int_t number = 0;
    switch (field->type) {
    case PROTOBUF_C_TYPE_DOUBLE:
        *(double *)to = json_number_value(value);
        return json_is_number(value) || refuse_type(at, value, "a number");
    case PROTOBUF_C_TYPE_FLOAT:
        *(float *)to = (float)json_number_value(value);
        return json_is_number(value) || refuse_type(at, value, "a number");
    case PROTOBUF_C_TYPE_UINT32:
    case PROTOBUF_C_TYPE_FIXED32:
        if (!read_integer(at, value, 0, UINT32_MAX, &number)) {
            return false;
        }
        *(uint32_t *)to = (uint32_t)number;
        return true;
    case PROTOBUF_C_TYPE_INT32:
    case PROTOBUF_C_TYPE_SINT32:
    case PROTOBUF_C_TYPE_SFIXED32:
        if (!read_integer(at, value, INT32_MIN, INT32_MAX, &number)) {
            return false;
        }
        *(int32_t *)to = (int32_t)number;
        return true;
    case PROTOBUF_C_TYPE_UINT64:
    case PROTOBUF_C_TYPE_FIXED64:
        return read_uint64(at, value, to);
    default:
        if (!read_int64(at, value, INT64_MIN, &number)) {
            return false;
        }
        *(int64_t *)to = number;
        return true;
    }
}

/* Reads one value of a field into `to`, which holds zeros. */
static bool read_value(reading *at, const ProtobufCFieldDescriptor *field, json_t *value, void *to) {
    switch (field->type) {
    case PROTOBUF_C_TYPE_BOOL:
        if (!json_is_boolean(value)) {
            return refuse_type(at, value, "true or false");
        }
        *(protobuf_c_boolean *)to = json_is_true(value);
        return true;
    case PROTOBUF_C_TYPE_ENUM:
        return read_enum(at, field->descriptor, value, to);
    case PROTOBUF_C_TYPE_STRING:
        return read_string(at, value, to);
    case PROTOBUF_C_TYPE_BYTES:
        return read_bytes(at, value, to);
    case PROTOBUF_C_TYPE_MESSAGE:
        return read_message(at, field->descriptor, value, to);
    default:
        return read_number(at, field, value, to);
    }
}

/* ---- members ----------------------------------------------------------------------------------------------------- */

/* Reads the elements of a repeated field from an array, or from an object with the keys 0, 1, 2 .... */
static bool read_repeated(reading *at, const ProtobufCFieldDescriptor *field, json_t *list, ProtobufCMessage *message) {
    if (!json_is_array(list) && !json_is_object(list)) {
        return refuse_type(at, list, "an array");
    }
    size_t count = list_size(list), width = field_value_size(field), length = strlen(at->path);
    char *values = calloc(count > 0 ? count : 1, width);
    if (!values) {
        return refuse_value(at, "out of memory");
    }
    *(char **)field_place(message, field) = values;
    for (size_t i = 0; i < count; i++) {
        json_t *value = list_get(list, i);
        at->path[length] = '\0';
        if (!value) {
            return refuse_value(at, "an array is needed; the keys of this object are not 0 to %zu", count - 1);
        }
        snprintf(at->path + length, sizeof at->path - length, "[%zu]", i);
        *field_count(message, field) = i + (field->type != PROTOBUF_C_TYPE_MESSAGE);
        if (!read_value(at, field, value, values + i * width)) {
            return false;
        }
        *field_count(message, field) = i + 1;
    }
    at->path[length] = '\0';
    return true;
}

/* Unwraps the value of a message or of a member of a oneof: replaces a list of one element by the element, and an empty
 * list or null by NULL, which means absent. Bytes are not unwrapped from a list. Leaves values of other fields
 * unchanged. Writes an error and returns false if the list has more than one element. */
static bool unwrap(const reading *at, const ProtobufCFieldDescriptor *field, json_t **value) {
    bool may_be_absent = field->type == PROTOBUF_C_TYPE_MESSAGE || field_is_choice(field);
    bool is_bytes = field->type == PROTOBUF_C_TYPE_BYTES;
    if (!may_be_absent) {
        return true;
    }
    if (json_is_array(*value) && !is_bytes) {
        if (json_array_size(*value) > 1) {
            return refuse_value(at, "at most one is allowed, not %zu", json_array_size(*value));
        }
        *value = json_array_get(*value, 0);
    } else if (json_is_null(*value)) {
        *value = NULL;
    }
    return true;
}

/* Reads the value of a field that is not repeated. Leaves the field unset if the value is absent. Refuses a second
 * member of a oneof. */
static bool read_single(reading *at, const ProtobufCFieldDescriptor *field, json_t *value, ProtobufCMessage *message) {
    if (!unwrap(at, field, &value)) {
        return false;
    }
    if (!value) {
        return true;
    }
    if (field_is_choice(field)) {
        if (*field_case(message, field) != 0) {
            return refuse_value(
                at, "%s is given too, and only one of them can be",
                protobuf_c_message_descriptor_get_field(message->descriptor, *field_case(message, field))->name);
        }
        memset(field_place(message, field), 0, field_value_size(field));
        *field_case(message, field) = field->id;
    }
    return read_value(at, field, value, field_place(message, field));
}

static bool read_member(reading *at, const char *key, json_t *value, ProtobufCMessage *message) {
    size_t length = strlen(at->path);
    const ProtobufCFieldDescriptor *field = protobuf_c_message_descriptor_get_field_by_name(message->descriptor, key);
    if (!field) {
        return refuse_value(at, "%s has no field \"%.64s\"", message->descriptor->short_name, key);
    }
    snprintf(at->path + length, sizeof at->path - length, "%s%s", length > 0 ? "." : "", key);
    bool read = field->label == PROTOBUF_C_LABEL_REPEATED ? read_repeated(at, field, value, message)
                                                          : read_single(at, field, value, message);
    if (read) {
        at->path[length] = '\0';
    }
    return read;
}

static bool read_message(reading *at, const ProtobufCMessageDescriptor *type, json_t *object, ProtobufCMessage **read) {
    if (!json_is_object(object)) {
        return refuse_type(at, object, "an object");
    }
    ProtobufCMessage *message = malloc(type->sizeof_message);
    if (!message) {
        return refuse_value(at, "out of memory");
    }
    protobuf_c_message_init(type, message);
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value) {
        if (!read_member(at, key, value, message)) {
            protobuf_c_message_free_unpacked(message, NULL);
            return false;
        }
    }
    *read = message;
    return true;
}

ProtobufCMessage *message_from_json(const ProtobufCMessageDescriptor *type, json_t *object, const char *root,
                                    char error[MESSAGE_ERROR_SIZE]) {
    reading at = {.error = error};
    ProtobufCMessage *message = NULL;
    snprintf(at.path, sizeof at.path, "%s", root);
    return read_message(&at, type, object, &message) ? message : NULL;
}
