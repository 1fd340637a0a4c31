/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Encodes messages of the protocol: in JSON or CBOR, in a PNG image or in fragments if the peer requested that.
 */
#ifndef ROSBRIDGE_ENCODE_H
#define ROSBRIDGE_ENCODE_H

#include <jansson.h>
#include <protobuf-c/protobuf-c.h>

#include "buffer.h"

typedef enum compression { COMPRESSION_NONE, COMPRESSION_PNG, COMPRESSION_CBOR, COMPRESSION_CBOR_RAW } compression;

typedef struct encoding {
    compression compression;
    size_t fragment_size; /* bytes of JSON in one message; 0: any number */
} encoding;

/* Bytes of the smallest fragment. Smaller requested sizes are raised to it. */
enum { MIN_FRAGMENT = 128 };

/* Words of the compressions, for errors. */
#define COMPRESSIONS "none, png, cbor and cbor-raw"

/* Parses one of COMPRESSIONS. Returns false for other words. */
bool parse_compression(const char *word, compression *parsed);

/* Appends the messages that encode `envelope`, and `values`, if not NULL, as its member "values". CBOR is one message,
 * whatever the fragment size. Returns false when out of memory. */
bool encode_message(const json_t *envelope, const ProtobufCMessage *values, const encoding *how, buffer_list *to);

#endif
