/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads the fields of a serialized protobuf message one by one.
 */
#include "wire.h"

#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "doubles are copied as they are on the wire");

static bool read_varint(wire_reader *reader, uint64_t *value) {
    *value = 0;
    for (unsigned shift = 0; shift < 64 && reader->at < reader->end; shift += 7) {
        uint8_t byte = *reader->at++;
        *value |= (uint64_t)(byte & 0x7f) << shift;
        if ((byte & 0x80) == 0) {
            return true;
        }
    }
    return false;
}

/* Points the field's content to the next `size` bytes. Returns false if the message is shorter. */
static bool read_bytes(wire_reader *reader, uint64_t size, wire_field *field) {
    if (size > (uint64_t)(reader->end - reader->at)) {
        return false;
    }
    field->bytes = reader->at;
    field->size = (size_t)size;
    reader->at += size;
    return true;
}

static bool read_field(wire_reader *reader, wire_field *field) {
    uint64_t key, size;
    if (!read_varint(reader, &key) || key >> 3 == 0 || key >> 3 > UINT32_MAX) {
        return false;
    }
    *field = (wire_field){.number = (uint32_t)(key >> 3), .type = (wire_type)(key & 7)};
    switch (field->type) {
    case WIRE_VARINT:
        return read_varint(reader, &field->varint);
    case WIRE_FIXED64:
        return read_bytes(reader, 8, field);
    case WIRE_BYTES:
        return read_varint(reader, &size) && read_bytes(reader, size, field);
    case WIRE_FIXED32:
        return read_bytes(reader, 4, field);
    }
    return false;
}

bool wire_next(wire_reader *reader, wire_field *field) {
    if (reader->at == reader->end) {
        return false;
    }
    reader->malformed = !read_field(reader, field);
    return !reader->malformed;
}

bool wire_read_doubles(const uint8_t *message, size_t size, uint32_t number, size_t count, double *values) {
    wire_reader reader = {.at = message, .end = message + size};
    wire_field field;
    size_t read = 0;
    while (wire_next(&reader, &field)) {
        if (field.number != number) {
            continue;
        }
        /* A field is one packed run of values, or a single value. */
        bool doubles = (field.type == WIRE_BYTES || field.type == WIRE_FIXED64) && field.size % sizeof(double) == 0;
        if (!doubles || field.size / sizeof(double) > count - read) {
            return false;
        }
        memcpy(values + read, field.bytes, field.size);
        read += field.size / sizeof(double);
    }
    return !reader.malformed && read == count;
}
