/* SPDX-License-Identifier: BSD-2-Clause */
/* Changes fields of a protobuf message as bytes of a fuzzer choose. */
#include "message_changes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "service_bench.h"

size_t decide(decisions *d, size_t count) {
    size_t number = 0;
    for (size_t span = 1; span < count; span <<= 8) {
        number = number << 8 | (d->left > 0 ? *d->bytes : 0);
        d->bytes += d->left > 0;
        d->left -= d->left > 0;
    }
    return count > 0 ? number % count : 0;
}

static uint64_t special_integer(decisions *d) {
    static const uint64_t integers[] = {0, 1, 2, 3, 7, 255, 10000, INT32_MAX, UINT32_MAX, INT64_MAX, UINT64_MAX};
    return integers[decide(d, sizeof integers / sizeof integers[0])];
}

static double special_number(decisions *d) {
    const double numbers[] = {0, -0.0, 1, -1, 1e-3, 0.5, 1e300, 1e-9, INFINITY, -INFINITY, NAN, 1e-320, 1e6, -1e308};
    return numbers[decide(d, sizeof numbers / sizeof numbers[0])];
}

static char *special_text(decisions *d) {
    static const char *const texts[] = {"",     "arm",     "walker", "shoulder",     "world",       "upper",
                                        "\xff", "\x1b[2J", "a/b",    "dynamics.v1.", "sha256:0000", "\xc3"};
    char *text = strdup(texts[decide(d, sizeof texts / sizeof texts[0])]);
    require(text != NULL, "there is memory");
    return text;
}

/* Returns the size in bytes of one value of a field in memory. */
static size_t size_of(const ProtobufCFieldDescriptor *field) {
    switch (field->type) {
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_SINT64:
    case PROTOBUF_C_TYPE_SFIXED64:
    case PROTOBUF_C_TYPE_UINT64:
    case PROTOBUF_C_TYPE_FIXED64:
    case PROTOBUF_C_TYPE_DOUBLE:
        return sizeof(uint64_t);
    case PROTOBUF_C_TYPE_BOOL:
        return sizeof(protobuf_c_boolean);
    case PROTOBUF_C_TYPE_STRING:
        return sizeof(char *);
    case PROTOBUF_C_TYPE_BYTES:
        return sizeof(ProtobufCBinaryData);
    case PROTOBUF_C_TYPE_MESSAGE:
        return sizeof(ProtobufCMessage *);
    default:
        return sizeof(uint32_t);
    }
}

/* Replaces a value of a field that is not a message: a number or a text by a special one, a bool by its negation. A
 * value of type `bytes` remains the same. Frees a replaced text. */
static void change_value(decisions *d, const ProtobufCFieldDescriptor *field, void *value) {
    uint64_t integer;
    double number;
    char *text;
    switch (field->type) {
    case PROTOBUF_C_TYPE_DOUBLE:
        number = special_number(d);
        memcpy(value, &number, sizeof number);
        break;
    case PROTOBUF_C_TYPE_STRING:
        memcpy(&text, value, sizeof text);
        if (text != field->default_value && text != protobuf_c_empty_string) {
            free(text);
        }
        text = special_text(d);
        memcpy(value, &text, sizeof text);
        break;
    case PROTOBUF_C_TYPE_BYTES:
        break; /* messages of recordings have no field of this type */
    case PROTOBUF_C_TYPE_BOOL:
        *(protobuf_c_boolean *)value = !*(protobuf_c_boolean *)value;
        break;
    default:
        integer = special_integer(d);
        memcpy(value, &integer, size_of(field));
        break;
    }
}

/* Returns a copy of a message. The caller frees it with protobuf_c_message_free_unpacked. */
static ProtobufCMessage *copy_message(const ProtobufCMessage *message) {
    size_t size = protobuf_c_message_get_packed_size(message);
    uint8_t *bytes = malloc(size + 1);
    require(bytes != NULL, "there is memory");
    protobuf_c_message_pack(message, bytes);
    ProtobufCMessage *copy = protobuf_c_message_unpack(message->descriptor, NULL, size, bytes);
    require(copy != NULL, "a message that was packed can be unpacked");
    free(bytes);
    return copy;
}

/* Removes the last value of an array and frees its memory. */
static void shorten(const ProtobufCFieldDescriptor *field, uint8_t *array, size_t *count) {
    void *last;
    bool is_pointer = field->type == PROTOBUF_C_TYPE_MESSAGE || field->type == PROTOBUF_C_TYPE_STRING;
    --*count;
    if (!is_pointer) {
        return;
    }
    memcpy(&last, array + *count * sizeof last, sizeof last);
    if (field->type == PROTOBUF_C_TYPE_MESSAGE) {
        protobuf_c_message_free_unpacked(last, NULL);
    } else {
        free(last);
    }
}

/* Appends a copy of the first value of an array that is not empty. Returns the array's new address. */
static uint8_t *lengthen(const ProtobufCFieldDescriptor *field, uint8_t *array, size_t *count) {
    size_t size = size_of(field);
    uint8_t *longer = realloc(array, (*count + 1) * size);
    require(longer != NULL, "there is memory");
    void *first;
    if (field->type == PROTOBUF_C_TYPE_MESSAGE) {
        memcpy(&first, longer, sizeof first);
        first = copy_message(first);
        memcpy(longer + *count * size, &first, sizeof first);
    } else if (field->type == PROTOBUF_C_TYPE_STRING) {
        memcpy(&first, longer, sizeof first);
        first = strdup(first);
        require(first != NULL, "there is memory");
        memcpy(longer + *count * size, &first, sizeof first);
    } else {
        memcpy(longer + *count * size, longer, size);
    }
    ++*count;
    return longer;
}

/* Changes an array that is not empty: removes its last value or all values, appends a copy of the first one, or
 * changes one value. */
static void change_array(decisions *d, const ProtobufCFieldDescriptor *field, uint8_t *message) {
    size_t *count = (size_t *)(void *)(message + field->quantifier_offset);
    uint8_t *array;
    void *inner = NULL;
    memcpy(&array, message + field->offset, sizeof array);
    size_t kind = decide(d, 6), index = decide(d, *count), times = decide(d, 2) ? *count : 1;
    switch (kind) {
    case 0:
        for (size_t i = 0; i < times; i++) {
            shorten(field, array, count);
        }
        break;
    case 1:
        array = lengthen(field, array, count);
        memcpy(message + field->offset, &array, sizeof array);
        break;
    default:
        memcpy(&inner, array + index * size_of(field), field->type == PROTOBUF_C_TYPE_MESSAGE ? sizeof inner : 0);
        if (field->type == PROTOBUF_C_TYPE_MESSAGE) {
            change_message(d, inner);
        } else {
            change_value(d, field, array + index * size_of(field));
        }
        break;
    }
}

/* Changes the nested message that `place` points to, or, in one of eight cases, frees it and stores NULL. NULL remains
 * NULL. */
static void change_inner(decisions *d, uint8_t *place) {
    ProtobufCMessage *inner;
    memcpy(&inner, place, sizeof inner);
    if (inner && decide(d, 8) == 0) {
        protobuf_c_message_free_unpacked(inner, NULL);
        inner = NULL;
        memcpy(place, &inner, sizeof inner);
    } else if (inner) {
        change_message(d, inner);
    }
}

/* Returns true if a field has a value to change: it is the selected member of its oneof, an array that is not empty, a
 * nested message other than NULL, or any other single value. */
static bool is_there(const ProtobufCMessage *message, const ProtobufCFieldDescriptor *field) {
    const uint8_t *bytes = (const uint8_t *)message;
    if (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) {
        uint32_t chosen;
        memcpy(&chosen, bytes + field->quantifier_offset, sizeof chosen);
        return chosen == field->id;
    }
    const void *inner = NULL;
    memcpy(&inner, bytes + field->offset, field->type == PROTOBUF_C_TYPE_MESSAGE ? sizeof inner : 0);
    if (field->label == PROTOBUF_C_LABEL_REPEATED) {
        size_t count;
        memcpy(&count, bytes + field->quantifier_offset, sizeof count);
        return count > 0;
    }
    return field->type != PROTOBUF_C_TYPE_MESSAGE || inner != NULL;
}

void change_message(decisions *d, ProtobufCMessage *message) {
    const ProtobufCMessageDescriptor *type = message->descriptor;
    size_t first = decide(d, type->n_fields);
    for (size_t i = 0; i < type->n_fields; i++) {
        const ProtobufCFieldDescriptor *field = &type->fields[(first + i) % type->n_fields];
        uint8_t *bytes = (uint8_t *)message;
        if (!is_there(message, field)) {
            continue;
        }
        bool is_choice = field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF;
        if (field->label == PROTOBUF_C_LABEL_REPEATED) {
            change_array(d, field, bytes);
        } else if (field->type != PROTOBUF_C_TYPE_MESSAGE) {
            change_value(d, field, bytes + field->offset);
        } else if (is_choice) {
            ProtobufCMessage *inner;
            memcpy(&inner, bytes + field->offset, sizeof inner);
            change_message(d, inner);
        } else {
            change_inner(d, bytes + field->offset);
        }
        return;
    }
}
