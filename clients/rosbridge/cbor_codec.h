/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Encodes messages in CBOR (RFC 8949) and decodes them. Arrays of numbers are typed arrays (RFC 8746) of little-endian
 * float64, bit for bit.
 */
#ifndef ROSBRIDGE_CBOR_CODEC_H
#define ROSBRIDGE_CBOR_CODEC_H

#include <jansson.h>
#include <protobuf-c/protobuf-c.h>

#include "buffer.h"

enum { CBOR_ERROR_SIZE = 160 };

/* Encodes the members of `envelope`, and `values`, if not NULL, as its member "values". A member of a oneof becomes a
 * list of one element, as in JSON. Returns NULL when out of memory. */
buffer *cbor_encode_message(const json_t *envelope, const ProtobufCMessage *values);

/* Encodes a publish message of cbor-raw: {op, topic, msg: {secs, nsecs, bytes}}. Returns NULL when out of memory. */
buffer *cbor_encode_raw(const char *topic, int64_t secs, int64_t nsecs, const uint8_t *bytes, size_t size);

/* Decodes one item. A byte string becomes base64, and a typed array becomes an array of numbers. NaN, infinity,
 * undefined and null become null. On failure returns NULL, and `error` names the cause and the byte. */
json_t *cbor_decode_message(const uint8_t *bytes, size_t size, char error[CBOR_ERROR_SIZE]);

#endif
