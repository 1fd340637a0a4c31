/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads the fields of a serialized protobuf message one by one, without unpacking the message, so that numbers are
 * copied from a reply directly into the caller's arrays.
 */
#ifndef CLIENT_WIRE_H
#define CLIENT_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct wire_reader {
    const uint8_t *at;
    const uint8_t *end;
    bool malformed; /* set when the bytes are malformed */
} wire_reader;

typedef enum wire_type {
    WIRE_VARINT = 0,
    WIRE_FIXED64 = 1,
    WIRE_BYTES = 2,
    WIRE_FIXED32 = 5,
} wire_type;

typedef struct wire_field {
    uint32_t number;
    wire_type type;
    uint64_t varint;      /* value of a field of type WIRE_VARINT */
    const uint8_t *bytes; /* content of a field of another type, little endian */
    size_t size;
} wire_field;

/* Reads the next field. Returns false at the end, and if the message is malformed. */
bool wire_next(wire_reader *reader, wire_field *field);

/* Copies all values of the packed `repeated double` field `number` of a message into `values`. Returns false if the
 * field does not have exactly `count` values, or if the message is malformed. */
bool wire_read_doubles(const uint8_t *message, size_t size, uint32_t number, size_t count, double *values);

#endif
