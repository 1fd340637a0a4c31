/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Serializes messages in the binary forms of ROS. The machine must be little-endian.
 */
#include "ros_serialize.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base64.h"
#include "json_list.h"
#include "ros_types.h"

enum { CDR_HEAD = 4 };

typedef struct sink {
    FILE *stream;
    ros_serialization how;
    size_t written; /* bytes without the header of CDR */
} sink;

static void append(sink *to, const void *bytes, size_t size) {
    if (size > 0) {
        fwrite(bytes, 1, size, to->stream);
    }
    to->written += size;
}

static void align(sink *to, size_t size) {
    static const char zeros[8];
    if (to->how == ROS_SERIALIZE_CDR && to->written % size != 0) {
        append(to, zeros, size - to->written % size);
    }
}

static void append_length(sink *to, size_t length) {
    uint32_t number = (uint32_t)length;
    align(to, sizeof number);
    append(to, &number, sizeof number);
}

/* Writes a text. CDR counts and writes the zero byte at the end. */
static void append_text(sink *to, const char *text, size_t length) {
    size_t written = length + (to->how == ROS_SERIALIZE_CDR);
    append_length(to, written);
    append(to, text, written);
}

static size_t width_of(const char *type) {
    if (strstr(type, "64")) {
        return 8;
    }
    if (strstr(type, "32")) {
        return 4;
    }
    return strstr(type, "16") ? 2 : 1;
}

json_int_t ros_whole(const json_t *value) {
    if (json_is_string(value)) {
        return (json_int_t)strtoull(json_string_value(value), NULL, 10);
    }
    if (!json_is_real(value)) {
        return json_is_true(value) ? 1 : json_integer_value(value);
    }
    return (json_int_t)fmax(-0x1p63, fmin(json_real_value(value), 0x1p63 - 1024));
}

static void append_primitive(sink *to, const char *type, const json_t *value) {
    if (strcmp(type, "string") == 0) {
        append_text(to, json_string_value(value), json_string_length(value));
        return;
    }
    double real = json_is_null(value) ? NAN : json_number_value(value); /* JSON has no NaN */
    float single = (float)real;
    json_int_t whole = ros_whole(value);
    size_t width = width_of(type);
    align(to, width);
    if (strcmp(type, "float64") == 0) {
        append(to, &real, width);
    } else if (strcmp(type, "float32") == 0) {
        append(to, &single, width);
    } else {
        append(to, &whole, width);
    }
}

static void append_message(sink *to, const char *type, const json_t *message);

static void append_value(sink *to, const char *type, const json_t *value) {
    if (ros_type_is_primitive(type)) {
        append_primitive(to, type, value);
    } else {
        append_message(to, type, value);
    }
}

static void append_field(sink *to, const ros_field *field, const json_t *value) {
    if (field->length == 0) {
        append_value(to, field->type, value);
        return;
    }
    if (json_is_string(value)) {
        size_t size;
        uint8_t *bytes = base64_decode(json_string_value(value), json_string_length(value), &size);
        append_length(to, size);
        append(to, bytes, size);
        free(bytes);
        return;
    }
    append_length(to, list_size(value));
    for (size_t i = 0; i < list_size(value); i++) {
        append_value(to, field->type, list_get(value, i));
    }
}

/* Writes a message. The header of ROS 1 begins with a sequence number. */
static void append_message(sink *to, const char *type, const json_t *message) {
    ros_field field;
    if (to->how == ROS_SERIALIZE_ROS1 && strcmp(type, "std_msgs/msg/Header") == 0) {
        append_length(to, 0);
    }
    for (size_t i = 0; ros_type_field(type, i, &field); i++) {
        append_field(to, &field, json_object_get(message, field.name));
    }
}

uint8_t *ros_serialize(const char *type, const json_t *message, ros_serialization how, size_t *size) {
    static const char head[CDR_HEAD] = {0, 1, 0, 0};
    char *bytes = NULL;
    sink to = {.how = how, .stream = open_memstream(&bytes, size)};
    if (!to.stream) {
        return NULL;
    }
    if (how == ROS_SERIALIZE_CDR) {
        fwrite(head, 1, sizeof head, to.stream);
    }
    append_message(&to, type, message);
    if (fclose(to.stream) == 0) {
        return (uint8_t *)bytes;
    }
    free(bytes);
    return NULL;
}
