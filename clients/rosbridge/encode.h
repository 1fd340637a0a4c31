/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages of the protocol, from their values to what is sent: JSON or CBOR, in a PNG image or in fragments if the peer
 * asked for that.
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

/* Bytes of the smallest fragment; what is asked for below that is raised to it. */
enum { MIN_FRAGMENT = 128 };

/* "none", "png", "cbor", "cbor-raw". False for other words. */
bool parse_compression(const char *word, compression *parsed);

/* Adds the messages that carry `envelope`, and `values`, if not NULL, as its member "values". CBOR goes in one message,
 * whatever the fragment size. False when out of memory. */
bool encode_message(const json_t *envelope, const ProtobufCMessage *values, const encoding *how, buffer_list *to);

#endif
