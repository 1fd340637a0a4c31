/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Encodes messages of the protocol in JSON, in PNG images and in fragments; cbor_encode.c encodes CBOR.
 */
#include "encode.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "cbor_codec.h"
#include "message_json.h"
#include "png_text.h"

static const char *const compression_words[] = {"none", "png", "cbor", "cbor-raw"};

bool parse_compression(const char *word, compression *parsed) {
    for (int i = 0; i < 4; i++) {
        if (strcmp(word, compression_words[i]) == 0) {
            *parsed = (compression)i;
            return true;
        }
    }
    return false;
}

/* Encodes JSON. Numbers have 17 digits, which preserve every double. */
static buffer *encode_json(const json_t *envelope, const ProtobufCMessage *values) {
    text_stream text;
    text_stream_open(&text);
    if (!text.stream) {
        return NULL;
    }
    fputc('{', text.stream);
    int failed = json_dumpf(envelope, text.stream, JSON_COMPACT | JSON_EMBED | JSON_REAL_PRECISION(17));
    if (values) {
        json_writer writer = {.stream = text.stream};
        fputs(json_object_size(envelope) > 0 ? ",\"values\":" : "\"values\":", text.stream);
        message_to_json(&writer, MESSAGE_ROS, values);
    }
    fputc('}', text.stream);
    buffer *encoded = text_stream_finish(&text);
    if (failed != 0) {
        buffer_release(encoded);
        return NULL;
    }
    return encoded;
}

static buffer *encode_packed(json_t *packed) {
    buffer *encoded = packed ? encode_json(packed, NULL) : NULL;
    json_decref(packed);
    return encoded;
}

static buffer *to_png(buffer *text) {
    char *image = text ? png_compress((const char *)buffer_bytes(text), text->size) : NULL;
    buffer_release(text);
    buffer *encoded = image ? encode_packed(json_pack("{ss ss}", "op", "png", "data", image)) : NULL;
    free(image);
    return encoded;
}

/* Returns the end of a fragment: at most `size` bytes after its start, and between two characters. */
static size_t fragment_end(const unsigned char *text, size_t start, size_t length, size_t size) {
    if (length - start <= size) {
        return length;
    }
    size_t end = start + size;
    while (end > start + 1 && (text[end] & 0xc0) == 0x80) {
        end--;
    }
    return end;
}

/* Splits a message into fragments, appends them to the list and releases `text`. Returns false when out of memory. */
static bool add_fragments(buffer *text, size_t size, buffer_list *to) {
    static _Atomic unsigned long last_id;
    const unsigned char *bytes = buffer_bytes(text);
    size_t total = 0, number = 0;
    char id[32];
    snprintf(id, sizeof id, "fragment:%lu", ++last_id);
    for (size_t at = 0; at < text->size; at = fragment_end(bytes, at, text->size, size)) {
        total++;
    }
    bool added = true;
    for (size_t at = 0; at < text->size && added; number++) {
        size_t end = fragment_end(bytes, at, text->size, size);
        added = buffer_list_add(to, encode_packed(json_pack("{ss ss ss% sI sI}", "op", "fragment", "id", id, "data",
                                                            (const char *)bytes + at, end - at, "num",
                                                            (json_int_t)number, "total", (json_int_t)total)));
        at = end;
    }
    buffer_release(text);
    return added;
}

bool encode_message(const json_t *envelope, const ProtobufCMessage *values, const encoding *how, buffer_list *to) {
    if (how->compression == COMPRESSION_CBOR || how->compression == COMPRESSION_CBOR_RAW) {
        return buffer_list_add(to, cbor_encode_message(envelope, values));
    }
    buffer *text = encode_json(envelope, values);
    if (how->compression == COMPRESSION_PNG) {
        text = to_png(text);
    }
    size_t size = how->fragment_size < MIN_FRAGMENT ? MIN_FRAGMENT : how->fragment_size;
    if (!text || how->fragment_size == 0 || text->size <= size) {
        return buffer_list_add(to, text);
    }
    return add_fragments(text, size, to);
}
