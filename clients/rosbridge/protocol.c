/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Decodes messages of the rosbridge protocol, and dispatches them to their operations.
 */
#include "protocol.h"

#include <stdlib.h>
#include <string.h>

#include "cbor_codec.h"
#include "operations.h"
#include "png_text.h"

/* Depth of nested messages, such as a PNG image in fragments. */
enum { MAX_NESTING = 3 };

static void handle_message(peer *from, json_t *message, size_t size, int nesting);

/* Parses and handles JSON of any origin. */
static void handle_text(peer *from, const char *text, size_t size, int nesting) {
    json_error_t error;
    json_t *message = json_loadb(text, size, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);
    if (!message) {
        peer_status(from, STATUS_ERROR, NULL, "not JSON: line %d, column %d: %s", error.line, error.column, error.text);
    } else {
        handle_message(from, message, size, nesting);
    }
    json_decref(message);
}

/* Adds a fragment and handles the message that it completes. */
static void handle_fragment(const request *from, int nesting) {
    const config *c = from->peer->bridge->config;
    const json_t *data = json_object_get(from->message, "data"), *number = json_object_get(from->message, "num"),
                 *total = json_object_get(from->message, "total");
    const char *id = json_string_value(from->id);
    if (!id || !json_is_string(data) || !json_is_integer(number) || !json_is_integer(total)) {
        request_refuse(from, "id and data as strings, num and total as whole numbers are needed");
        return;
    }
    fragment_limits limits = {.messages = c->partial_messages,
                              .fragments = c->fragments,
                              .bytes = c->message_bytes,
                              .time = c->fragment_time};
    char *message, error[FRAGMENT_ERROR_SIZE];
    size_t size;
    const fragment added = {.id = id,
                            .data = json_string_value(data),
                            .length = json_string_length(data),
                            .number = json_integer_value(number),
                            .total = json_integer_value(total)};
    fragment_result result =
        fragments_add(&from->peer->fragments, &limits, monotonic_time(), &added, &message, &size, error);
    if (result == FRAGMENT_REFUSED) {
        request_refuse(from, "%s", error);
    }
    if (result != FRAGMENT_COMPLETE) {
        return;
    }
    handle_text(from->peer, message, size, nesting + 1);
    free(message);
}

static void handle_png(const request *from, int nesting) {
    const json_t *data = json_object_get(from->message, "data");
    const char *error = "data: a string is needed";
    size_t size;
    char *text = json_is_string(data) ? png_decompress(json_string_value(data), json_string_length(data),
                                                       from->peer->bridge->config->message_bytes, &size, &error)
                                      : NULL;
    if (!text) {
        request_refuse(from, "data: %s", error);
    } else {
        handle_text(from->peer, text, size, nesting + 1);
    }
    free(text);
}

static void handle_message(peer *from, json_t *message, size_t size, int nesting) {
    request received = {.peer = from,
                        .message = message,
                        .id = json_object_get(message, "id"),
                        .op = json_string_value(json_object_get(message, "op")),
                        .size = size};
    if (!json_is_object(message)) {
        peer_status(from, STATUS_ERROR, NULL, "a message is an object with the member \"op\"");
    } else if (!received.op) {
        peer_status(from, STATUS_ERROR, received.id, "op: a string is needed");
    } else if (nesting >= MAX_NESTING) {
        request_refuse(&received, "fragments and images are nested deeper than %d", MAX_NESTING);
    } else if (strcmp(received.op, "fragment") == 0) {
        handle_fragment(&received, nesting);
    } else if (strcmp(received.op, "png") == 0) {
        handle_png(&received, nesting);
    } else if (!operation_run(&received)) {
        peer_status(from, STATUS_ERROR, received.id, "op: there is no operation \"%.64s\"", received.op);
    }
}

/* Returns true for JSON. Some clients (ROS#) send JSON in binary frames; a message in CBOR is a map, which never begins
 * like an object of JSON. */
static bool is_text(const void *bytes, size_t size, bool is_binary) {
    return !is_binary || (size > 0 && *(const char *)bytes == '{');
}

void protocol_handle(peer *from, const void *bytes, size_t size, bool is_binary) {
    metrics *counted = &from->bridge->metrics;
    counted->counters[COUNTER_MESSAGES_IN]++;
    counted->counters[COUNTER_BYTES_IN] += size;
    from->last_message = monotonic_time();
    if (is_text(bytes, size, is_binary)) {
        handle_text(from, bytes, size, 0);
        return;
    }
    char error[CBOR_ERROR_SIZE];
    json_t *message = cbor_decode_message(bytes, size, error);
    if (!message) {
        peer_status(from, STATUS_ERROR, NULL, "%s", error);
    } else {
        handle_message(from, message, size, 0);
    }
    json_decref(message);
}
