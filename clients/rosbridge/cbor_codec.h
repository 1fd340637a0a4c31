/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * CBOR (RFC 8949) of messages: numbers in arrays travel as typed arrays (RFC 8746), float64 little-endian, bit by bit.
 */
#ifndef ROSBRIDGE_CBOR_CODEC_H
#define ROSBRIDGE_CBOR_CODEC_H

#include <jansson.h>
#include <protobuf-c/protobuf-c.h>

#include "buffer.h"

enum { CBOR_ERROR_SIZE = 160 };

/* Encodes the members of `envelope`, and `values`, if not NULL, as its member "values". Members of a oneof are written
 * as lists of one, as in JSON. NULL when out of memory. */
buffer *cbor_encode_message(const json_t *envelope, const ProtobufCMessage *values);

/* Encodes a publish of cbor-raw: {op, topic, msg: {secs, nsecs, bytes}}. */
buffer *cbor_encode_raw(const char *topic, int64_t secs, int64_t nsecs, const uint8_t *bytes, size_t size);

/* Decodes one item. A byte string becomes base64, a typed array an array of numbers; NaN and infinity, undefined and
 * null become null. NULL: `error` says what is wrong at which byte. */
json_t *cbor_decode_message(const uint8_t *bytes, size_t size, char error[CBOR_ERROR_SIZE]);

#endif
