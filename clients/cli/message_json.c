/*
 * Protobuf messages of any type from and to JSON.
 *
 * Messages lie in memory as protobuf-c's generated code has them: a field is at its descriptor's offset; the count of a
 * repeated field, and the case of a oneof, is at quantifier_offset.
 */
#include "message_json.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- to JSON ----------------------------------------------------------------------------------------------------- */

static void write_enum(json_writer *writer, const ProtobufCEnumDescriptor *type, int value) {
    const ProtobufCEnumValue *known = protobuf_c_enum_descriptor_get_value(type, value);
    if (known != NULL)
        emit_string(writer, known->name);
    else
        emit_signed(writer, value);
}

/* Writes bytes as hexadecimal digits. */
static void write_bytes(json_writer *writer, const ProtobufCBinaryData *bytes) {
    char *digits = malloc(2 * bytes->len + 1);
    if (digits == NULL) {
        emit_string(writer, "");
        return;
    }
    for (size_t i = 0; i < bytes->len; i++)
        snprintf(digits + 2 * i, 3, "%02x", bytes->data[i]);
    digits[2 * bytes->len] = '\0';
    emit_string(writer, digits);
    free(digits);
}

/* Writes one value of a field, which lies at `at`. */
static void write_value(json_writer *writer, const ProtobufCFieldDescriptor *field, const void *at) {
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
        message_to_json(writer, *(const ProtobufCMessage *const *)at);
        break;
    }
}

static size_t size_of(const ProtobufCFieldDescriptor *field) {
    switch (field->type) {
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_SINT64:
    case PROTOBUF_C_TYPE_SFIXED64:
    case PROTOBUF_C_TYPE_UINT64:
    case PROTOBUF_C_TYPE_FIXED64:
    case PROTOBUF_C_TYPE_DOUBLE:
        return 8;
    case PROTOBUF_C_TYPE_BOOL:
        return sizeof(protobuf_c_boolean);
    case PROTOBUF_C_TYPE_BYTES:
        return sizeof(ProtobufCBinaryData);
    case PROTOBUF_C_TYPE_STRING:
    case PROTOBUF_C_TYPE_MESSAGE:
        return sizeof(void *);
    default:
        return 4;
    }
}

static void write_repeated(json_writer *writer, const ProtobufCFieldDescriptor *field, size_t count,
                           const char *values) {
    if (field->type == PROTOBUF_C_TYPE_DOUBLE) {
        emit_doubles(writer, count, (const double *)values);
        return;
    }
    emit_begin_array(writer);
    for (size_t i = 0; i < count; i++)
        write_value(writer, field, values + i * size_of(field));
    emit_end_array(writer);
}

/* Is this field there: the chosen one of its oneof, a message that is not absent? */
static bool is_present(const ProtobufCMessage *message, const ProtobufCFieldDescriptor *field) {
    const char *base = (const char *)message;
    if (field->label == PROTOBUF_C_LABEL_REPEATED)
        return true;
    if ((field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) != 0)
        return *(const uint32_t *)(base + field->quantifier_offset) == field->id;
    return field->type != PROTOBUF_C_TYPE_MESSAGE || *(const void *const *)(base + field->offset) != NULL;
}

void message_to_json(json_writer *writer, const ProtobufCMessage *message) {
    emit_begin_object(writer);
    for (unsigned i = 0; i < message->descriptor->n_fields; i++) {
        const ProtobufCFieldDescriptor *field = &message->descriptor->fields[i];
        const char *at = (const char *)message + field->offset;
        if (!is_present(message, field))
            continue;
        emit_key(writer, field->name);
        if (field->label == PROTOBUF_C_LABEL_REPEATED)
            write_repeated(writer, field, *(const size_t *)((const char *)message + field->quantifier_offset),
                           *(const char *const *)at);
        else
            write_value(writer, field, at);
    }
    emit_end_object(writer);
}

/* ---- from JSON --------------------------------------------------------------------------------------------------- */

/* The path of the member being read, and what is wrong with it. */
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

static bool read_integer(const reading *at, const json_t *value, json_int_t min, json_int_t max, json_int_t *number) {
    if (!json_is_integer(value))
        return refuse_value(at, "a whole number is needed");
    *number = json_integer_value(value);
    if (*number < min || *number > max)
        return refuse_value(at, "%lld is not from %lld to %lld", (long long)*number, (long long)min, (long long)max);
    return true;
}

static bool read_enum(const reading *at, const ProtobufCEnumDescriptor *type, const json_t *value, int *number) {
    const char *name = json_string_value(value);
    const ProtobufCEnumValue *known = name != NULL ? protobuf_c_enum_descriptor_get_value_by_name(type, name) : NULL;
    if (known != NULL) {
        *number = known->value;
        return true;
    }
    char names[256] = "";
    size_t written = 0;
    for (unsigned i = 0; i < type->n_values && written < sizeof names; i++)
        written += (size_t)snprintf(names + written, sizeof names - written, "%s\"%s\"", i > 0 ? ", " : "",
                                    type->values[i].name);
    return refuse_value(at, "give one of %s", names);
}

static bool read_message(reading *at, const ProtobufCMessageDescriptor *type, json_t *object, ProtobufCMessage **read);

static bool read_string(const reading *at, const json_t *value, char **text) {
    if (!json_is_string(value))
        return refuse_value(at, "a string is needed");
    *text = strdup(json_string_value(value));
    return *text != NULL || refuse_value(at, "out of memory");
}

/* Reads one value of a field to `to`, which holds zeros. */
static bool read_value(reading *at, const ProtobufCFieldDescriptor *field, json_t *value, void *to) {
    json_int_t number = 0;
    switch (field->type) {
    case PROTOBUF_C_TYPE_DOUBLE:
        if (!json_is_number(value))
            return refuse_value(at, "a number is needed");
        *(double *)to = json_number_value(value);
        return true;
    case PROTOBUF_C_TYPE_UINT32:
        if (!read_integer(at, value, 0, UINT32_MAX, &number))
            return false;
        *(uint32_t *)to = (uint32_t)number;
        return true;
    case PROTOBUF_C_TYPE_UINT64:
        if (!read_integer(at, value, 0, INT64_MAX, &number))
            return false;
        *(uint64_t *)to = (uint64_t)number;
        return true;
    case PROTOBUF_C_TYPE_BOOL:
        if (!json_is_boolean(value))
            return refuse_value(at, "true or false is needed");
        *(protobuf_c_boolean *)to = json_is_true(value);
        return true;
    case PROTOBUF_C_TYPE_ENUM:
        return read_enum(at, field->descriptor, value, to);
    case PROTOBUF_C_TYPE_STRING:
        return read_string(at, value, to);
    case PROTOBUF_C_TYPE_MESSAGE:
        return read_message(at, field->descriptor, value, to);
    default:
        return refuse_value(at, "this type of field is not supported");
    }
}

/* Reads the elements of a repeated field. */
static bool read_repeated(reading *at, const ProtobufCFieldDescriptor *field, json_t *list, ProtobufCMessage *message) {
    if (!json_is_array(list))
        return refuse_value(at, "an array is needed");
    size_t count = json_array_size(list), width = size_of(field), length = strlen(at->path);
    char *values = calloc(count > 0 ? count : 1, width);
    if (values == NULL)
        return refuse_value(at, "out of memory");
    *(char **)((char *)message + field->offset) = values;
    size_t *read = (size_t *)((char *)message + field->quantifier_offset);
    for (size_t i = 0; i < count; i++) {
        snprintf(at->path + length, sizeof at->path - length, "[%zu]", i);
        if (!read_value(at, field, json_array_get(list, i), values + i * width))
            return false;
        *read = i + 1;
    }
    at->path[length] = '\0';
    return true;
}

static bool read_member(reading *at, const char *key, json_t *value, ProtobufCMessage *message) {
    size_t length = strlen(at->path);
    const ProtobufCFieldDescriptor *field = protobuf_c_message_descriptor_get_field_by_name(message->descriptor, key);
    if (field == NULL)
        return refuse_value(at, "%s has no field \"%.64s\"", message->descriptor->short_name, key);
    snprintf(at->path + length, sizeof at->path - length, "%s%s", length > 0 ? "." : "", key);
    bool read;
    if (field->label == PROTOBUF_C_LABEL_REPEATED) {
        read = read_repeated(at, field, value, message);
    } else if ((field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) != 0) {
        read = refuse_value(at, "a choice of fields is not supported");
    } else {
        read = read_value(at, field, value, (char *)message + field->offset);
    }
    if (read)
        at->path[length] = '\0';
    return read;
}

static bool read_message(reading *at, const ProtobufCMessageDescriptor *type, json_t *object, ProtobufCMessage **read) {
    if (!json_is_object(object))
        return refuse_value(at, "an object is needed");
    ProtobufCMessage *message = malloc(type->sizeof_message);
    if (message == NULL)
        return refuse_value(at, "out of memory");
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

ProtobufCMessage *message_from_json(const ProtobufCMessageDescriptor *type, json_t *object,
                                    char error[MESSAGE_ERROR_SIZE]) {
    reading at = {.error = error};
    ProtobufCMessage *message = NULL;
    return read_message(&at, type, object, &message) ? message : NULL;
}
