/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads and checks the members of a message.
 */
#include "request.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "ros_names.h"

bool request_refuse(const request *refused, const char *format, ...) {
    char text[768];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    peer_status(refused->peer, STATUS_ERROR, refused->id, "%s: %s", refused->op, text);
    return false;
}

const char *request_text(const request *from, const char *member) {
    const json_t *value = json_object_get(from->message, member);
    if (!value || json_is_null(value)) {
        return "";
    }
    if (json_is_string(value)) {
        return json_string_value(value);
    }
    request_refuse(from, "%s: a string is needed", member);
    return NULL;
}

bool request_name(const request *from, const char *member, char name[256]) {
    const char *text = request_text(from, member);
    if (!text || ros_name_normalize(text, name)) {
        return text;
    }
    return request_refuse(from, text[0] == '\0' ? "%s: a name is needed" : "%s: \"%.64s\" is no name of ROS", member,
                          text);
}

bool request_is_bare(const request *from, const char *member) {
    return json_string_value(json_object_get(from->message, member))[0] != '/';
}

bool request_number(const request *from, const char *member, double standard, double *number) {
    const json_t *value = json_object_get(from->message, member);
    *number = json_is_number(value) ? json_number_value(value) : standard;
    if (value && !json_is_number(value) && !json_is_null(value)) {
        return request_refuse(from, "%s: a number is needed", member);
    }
    return *number >= 0 || request_refuse(from, "%s: %g is less than 0", member, *number);
}

bool request_encoding(const request *from, encoding *wanted) {
    const char *word = request_text(from, "compression");
    double size;
    *wanted = (encoding){0};
    if (!word || !request_number(from, "fragment_size", 0, &size)) {
        return false;
    }
    if (word[0] != '\0' && !parse_compression(word, &wanted->compression)) {
        return request_refuse(from, "compression: \"%.32s\" is none of " COMPRESSIONS, word);
    }
    wanted->fragment_size = size > 0 && size < 1 ? 1 : (size_t)fmin(size, 1 << 30);
    return true;
}
