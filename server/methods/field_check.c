/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks serialized messages for fields that decoding would lose. */
#include "methods/field_check.h"

#include <stdio.h>
#include <string.h>

/* Number of fields of a message type whose occurrences are counted, for the index in a path. */
enum { COUNTED_FIELDS = 32 };

/* Remaining bytes of a message. */
typedef struct rest {
    const uint8_t *at, *end;
} rest;

static bool read_varint(rest *r, uint64_t *value) {
    *value = 0;
    for (unsigned shift = 0; r->at < r->end && shift < 64; shift += 7) {
        uint8_t byte = *r->at++;
        *value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80)) {
            return true;
        }
    }
    return false;
}

/* Reads the next field and its number. `content` receives the bytes of a length-delimited field, NULL for another one.
 * Returns false for bytes that are no field. */
static bool read_field(rest *r, uint32_t *number, rest *content) {
    uint64_t key, length;
    *content = (rest){NULL, NULL};
    if (!read_varint(r, &key)) {
        return false;
    }
    *number = (uint32_t)(key >> 3);
    switch (key & 7) {
    case PROTOBUF_C_WIRE_TYPE_VARINT:
        return read_varint(r, &length);
    case PROTOBUF_C_WIRE_TYPE_64BIT:
        length = 8;
        break;
    case PROTOBUF_C_WIRE_TYPE_32BIT:
        length = 4;
        break;
    case PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED:
        if (!read_varint(r, &length)) {
            return false;
        }
        *content = (rest){r->at, r->at + (length <= (size_t)(r->end - r->at) ? length : 0)};
        break;
    default:
        return false;
    }
    if (length > (size_t)(r->end - r->at)) {
        return false;
    }
    r->at += length;
    return true;
}

/* Writes the path of a field, "name" or "name[i]" if it is repeated, and returns its length. A path without space for
 * it is truncated. */
static size_t write_step(const ProtobufCFieldDescriptor *field, unsigned index, char *path, size_t size) {
    int length = field->label == PROTOBUF_C_LABEL_REPEATED ? snprintf(path, size, "%s[%u]", field->name, index)
                                                           : snprintf(path, size, "%s", field->name);
    return (size_t)length < size ? (size_t)length : size - 1;
}

/* Checks the content of a field of type message (field_check_find). `used` is the number of characters of the field's
 * own path. Messages do not contain themselves, so the contract bounds the depth. */
static field_problem check_message(const ProtobufCFieldDescriptor *field, const rest *content, size_t used, char *path,
                                   size_t path_size, uint32_t *number) {
    bool has_space = used + 2 < path_size;
    char *inner = has_space ? path + used + 1 : path + used;
    size_t inner_size = has_space ? path_size - used - 1 : 1;
    field_problem problem = field_check_find(field->descriptor, content->at, (size_t)(content->end - content->at),
                                             inner, inner_size, number);
    if (problem != FIELD_FITS && has_space && inner[0]) {
        path[used] = '.';
    }
    return problem;
}

field_problem field_check_find(const ProtobufCMessageDescriptor *type, const uint8_t *bytes, size_t size, char *path,
                               size_t path_size, uint32_t *number) {
    rest r = {bytes, bytes + size}, content;
    unsigned counts[COUNTED_FIELDS] = {0};
    path[0] = '\0';
    while (r.at < r.end && read_field(&r, number, &content)) {
        const ProtobufCFieldDescriptor *field = protobuf_c_message_descriptor_get_field(type, *number);
        if (!field) {
            path[0] = '\0';
            return FIELD_IS_UNKNOWN;
        }
        if (!content.at) {
            continue;
        }
        size_t length = (size_t)(content.end - content.at), place = (size_t)(field - type->fields);
        unsigned index = place < COUNTED_FIELDS ? counts[place]++ : 0;
        if (field->type == PROTOBUF_C_TYPE_STRING && length > 0 && memchr(content.at, 0, length)) {
            write_step(field, index, path, path_size);
            return FIELD_HAS_ZERO_BYTE;
        }
        if (field->type == PROTOBUF_C_TYPE_MESSAGE) {
            size_t used = write_step(field, index, path, path_size);
            field_problem problem = check_message(field, &content, used, path, path_size, number);
            if (problem != FIELD_FITS) {
                return problem;
            }
        }
    }
    return FIELD_FITS;
}

bool field_check_later(const ProtobufCMessageDescriptor *type, const uint8_t *bytes, size_t size,
                       char text[UNKNOWN_FIELD_SIZE]) {
    char path[UNKNOWN_FIELD_SIZE - 128];
    uint32_t number;
    if (field_check_find(type, bytes, size, path, sizeof path, &number) != FIELD_IS_UNKNOWN) {
        return false;
    }
    snprintf(text, UNKNOWN_FIELD_SIZE, "%s%s%s has the field %u, which this daemon does not know: a later one wrote it",
             type->short_name, path[0] ? "." : "", path, number);
    return true;
}
