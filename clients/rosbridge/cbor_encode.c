/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Encodes messages of the protocol in CBOR.
 */
#include <cbor.h>
#include <stdlib.h>
#include <string.h>

#include "cbor_codec.h"
#include "message_fields.h"

/* Tag of RFC 8746: typed array of little-endian float64. */
enum { TAG_FLOAT64_LE = 86 };

typedef struct sink {
    unsigned char *space;
    size_t size, capacity;
    bool failed;
} sink;

/* Makes room for `size` more bytes. Returns false when out of memory. */
static bool reserve(sink *to, size_t size) {
    if (to->failed) {
        return false;
    }
    if (to->size + size <= to->capacity) {
        return true;
    }
    size_t capacity = 2 * to->capacity + size;
    unsigned char *space = realloc(to->space, capacity);
    if (!space) {
        to->failed = true;
        return false;
    }
    to->space = space;
    to->capacity = capacity;
    return true;
}

typedef size_t (*head_encoder)(size_t value, unsigned char *bytes, size_t size);

/* Writes a head, which is at most nine bytes long. */
static void write_head(sink *to, head_encoder encode, size_t value) {
    if (reserve(to, 9)) {
        to->size += encode(value, to->space + to->size, 9);
    }
}

static void write_bytes(sink *to, const void *bytes, size_t size) {
    if (size > 0 && reserve(to, size)) {
        memcpy(to->space + to->size, bytes, size);
        to->size += size;
    }
}

static void write_string(sink *to, const char *text, size_t length) {
    write_head(to, cbor_encode_string_start, length);
    write_bytes(to, text, length);
}

static void write_key(sink *to, const char *key) {
    write_string(to, key, strlen(key));
}

static void write_unsigned(sink *to, uint64_t number) {
    if (reserve(to, 9)) {
        to->size += cbor_encode_uint(number, to->space + to->size, 9);
    }
}

static void write_signed(sink *to, int64_t number) {
    if (number >= 0) {
        write_unsigned(to, (uint64_t)number);
    } else if (reserve(to, 9)) {
        to->size += cbor_encode_negint((uint64_t) - (number + 1), to->space + to->size, 9);
    }
}

static void write_double(sink *to, double number) {
    if (reserve(to, 9)) {
        to->size += cbor_encode_double(number, to->space + to->size, 9);
    }
}

static void write_bool(sink *to, bool truth) {
    if (reserve(to, 9)) {
        to->size += cbor_encode_bool(truth, to->space + to->size, 9);
    }
}

/* Writes a typed array. The machine is little-endian, so the numbers need no conversion. */
static void write_doubles(sink *to, const double *numbers, size_t count) {
    write_head(to, cbor_encode_tag, TAG_FLOAT64_LE);
    write_head(to, cbor_encode_bytestring_start, count * sizeof(double));
    write_bytes(to, numbers, count * sizeof(double));
}

/* ---- JSON values ------------------------------------------------------------------------------------------------- */

static void write_json(sink *to, const json_t *value);

/* Writes an array; an array of reals only as a typed array. */
static void write_json_array(sink *to, const json_t *list) {
    size_t count = json_array_size(list), reals = 0;
    while (reals < count && json_is_real(json_array_get(list, reals))) {
        reals++;
    }
    double *numbers = reals == count && count > 0 ? malloc(count * sizeof *numbers) : NULL;
    if (numbers) {
        for (size_t i = 0; i < count; i++) {
            numbers[i] = json_real_value(json_array_get(list, i));
        }
        write_doubles(to, numbers, count);
        free(numbers);
        return;
    }
    write_head(to, cbor_encode_array_start, count);
    for (size_t i = 0; i < count; i++) {
        write_json(to, json_array_get(list, i));
    }
}

static void write_json_members(sink *to, const json_t *object) {
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)object, key, value) {
        write_key(to, key);
        write_json(to, value);
    }
}

static void write_json(sink *to, const json_t *value) {
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        write_head(to, cbor_encode_map_start, json_object_size(value));
        write_json_members(to, value);
        break;
    case JSON_ARRAY:
        write_json_array(to, value);
        break;
    case JSON_STRING:
        write_string(to, json_string_value(value), json_string_length(value));
        break;
    case JSON_INTEGER:
        write_signed(to, json_integer_value(value));
        break;
    case JSON_REAL:
        write_double(to, json_real_value(value));
        break;
    case JSON_TRUE:
    case JSON_FALSE:
        write_bool(to, json_is_true(value));
        break;
    case JSON_NULL:
        if (reserve(to, 9)) {
            to->size += cbor_encode_null(to->space + to->size, 9);
        }
        break;
    }
}

/* ---- protobuf messages ------------------------------------------------------------------------------------------- */

static void write_message(sink *to, const ProtobufCMessage *message);

static void write_enum(sink *to, const ProtobufCEnumDescriptor *type, int value) {
    const ProtobufCEnumValue *known = protobuf_c_enum_descriptor_get_value(type, value);
    if (known) {
        write_key(to, known->name);
    } else {
        write_signed(to, value);
    }
}

static void write_value(sink *to, const ProtobufCFieldDescriptor *field, const void *at) {
    const ProtobufCBinaryData *bytes = at;
    switch (field->type) {
    case PROTOBUF_C_TYPE_INT32:
    case PROTOBUF_C_TYPE_SINT32:
    case PROTOBUF_C_TYPE_SFIXED32:
        write_signed(to, *(const int32_t *)at);
        break;
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_SINT64:
    case PROTOBUF_C_TYPE_SFIXED64:
        write_signed(to, *(const int64_t *)at);
        break;
    case PROTOBUF_C_TYPE_UINT32:
    case PROTOBUF_C_TYPE_FIXED32:
        write_unsigned(to, *(const uint32_t *)at);
        break;
    case PROTOBUF_C_TYPE_UINT64:
    case PROTOBUF_C_TYPE_FIXED64:
        write_unsigned(to, *(const uint64_t *)at);
        break;
    case PROTOBUF_C_TYPE_FLOAT:
        write_double(to, (double)*(const float *)at);
        break;
    case PROTOBUF_C_TYPE_DOUBLE:
        write_double(to, *(const double *)at);
        break;
    case PROTOBUF_C_TYPE_BOOL:
        write_bool(to, *(const protobuf_c_boolean *)at != 0);
        break;
    case PROTOBUF_C_TYPE_ENUM:
        write_enum(to, field->descriptor, *(const int *)at);
        break;
    case PROTOBUF_C_TYPE_STRING:
        write_key(to, *(const char *const *)at);
        break;
    case PROTOBUF_C_TYPE_BYTES:
        write_head(to, cbor_encode_bytestring_start, bytes->len);
        write_bytes(to, bytes->data, bytes->len);
        break;
    case PROTOBUF_C_TYPE_MESSAGE:
        write_message(to, *(const ProtobufCMessage *const *)at);
        break;
    }
}

static void write_field(sink *to, const ProtobufCMessage *message, const ProtobufCFieldDescriptor *field) {
    const void *place = field_place(message, field);
    if (field->label != PROTOBUF_C_LABEL_REPEATED) {
        if (field_is_choice(field)) {
            write_head(to, cbor_encode_array_start, 1);
        }
        write_value(to, field, place);
        return;
    }
    size_t count = *field_count(message, field);
    const char *values = *(const char *const *)place;
    if (field->type == PROTOBUF_C_TYPE_DOUBLE) {
        write_doubles(to, (const double *)values, count);
        return;
    }
    write_head(to, cbor_encode_array_start, count);
    for (size_t i = 0; i < count; i++) {
        write_value(to, field, values + i * field_value_size(field));
    }
}

static void write_message(sink *to, const ProtobufCMessage *message) {
    size_t present = 0;
    for (unsigned i = 0; i < message->descriptor->n_fields; i++) {
        present += field_is_present(message, &message->descriptor->fields[i]);
    }
    write_head(to, cbor_encode_map_start, present);
    for (unsigned i = 0; i < message->descriptor->n_fields; i++) {
        const ProtobufCFieldDescriptor *field = &message->descriptor->fields[i];
        if (!field_is_present(message, field)) {
            continue;
        }
        write_key(to, field->name);
        write_field(to, message, field);
    }
}

static void open_sink(sink *to) {
    *to = (sink){.size = BUFFER_HEADROOM, .capacity = 512};
    to->space = malloc(to->capacity);
    to->failed = !to->space;
}

static buffer *finish(sink *to) {
    if (!to->failed) {
        return buffer_adopt(to->space, to->size - BUFFER_HEADROOM, true);
    }
    free(to->space);
    return NULL;
}

buffer *cbor_encode_message(const json_t *envelope, const ProtobufCMessage *values) {
    sink to;
    open_sink(&to);
    write_head(&to, cbor_encode_map_start, json_object_size(envelope) + (values != NULL));
    write_json_members(&to, envelope);
    if (values) {
        write_key(&to, "values");
        write_message(&to, values);
    }
    return finish(&to);
}

buffer *cbor_encode_raw(const char *topic, int64_t secs, int64_t nsecs, const uint8_t *bytes, size_t size) {
    sink to;
    open_sink(&to);
    write_head(&to, cbor_encode_map_start, 3);
    write_key(&to, "op");
    write_key(&to, "publish");
    write_key(&to, "topic");
    write_key(&to, topic);
    write_key(&to, "msg");
    write_head(&to, cbor_encode_map_start, 3);
    write_key(&to, "secs");
    write_signed(&to, secs);
    write_key(&to, "nsecs");
    write_signed(&to, nsecs);
    write_key(&to, "bytes");
    write_head(&to, cbor_encode_bytestring_start, size);
    write_bytes(&to, bytes, size);
    return finish(&to);
}
