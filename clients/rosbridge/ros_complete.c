/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks messages against their types and completes them.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "json_list.h"
#include "ros_serialize.h"
#include "ros_time.h"
#include "ros_types.h"
#include "topics.h"

/* Path of the value that is checked, and its error. */
typedef struct check {
    char path[192];
    char *error;
} check;

static bool refuse(const check *at, const char *format, ...) __attribute__((format(printf, 2, 3)));

static bool refuse(const check *at, const char *format, ...) {
    int written = snprintf(at->error, TOPIC_ERROR_SIZE, "%s: ", at->path);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(at->error + written, TOPIC_ERROR_SIZE - (size_t)written, format, arguments);
    va_end(arguments);
    return false;
}

static bool is_time(const char *type) {
    return strcmp(type, "builtin_interfaces/msg/Time") == 0 || strcmp(type, "builtin_interfaces/msg/Duration") == 0;
}

static json_t *standard_of(const char *type) {
    if (strcmp(type, "string") == 0) {
        return json_string("");
    }
    if (strcmp(type, "bool") == 0) {
        return json_false();
    }
    if (ros_type_is_primitive(type)) {
        return strncmp(type, "float", 5) == 0 ? json_real(0) : json_integer(0);
    }
    return json_object();
}

static bool check_message(check *at, const char *type, json_t *message);

/* Checks one value. Returns a new reference to its replacement, which may be the value itself, or NULL if it is
 * refused. */
static json_t *check_value(check *at, const char *type, json_t *value) {
    if (is_time(type)) {
        json_t *sec = json_object_get(value, "sec"), *nanosec = json_object_get(value, "nanosec");
        if (json_is_string(value) && strcmp(json_string_value(value), "now") == 0) {
            return ros_time_now(false);
        }
        if (!sec) {
            sec = json_object_get(value, "secs");
        }
        if (!nanosec) {
            nanosec = json_object_get(value, "nsecs");
        }
        if (json_is_object(value) && (!sec || json_is_number(sec)) && (!nanosec || json_is_number(nanosec))) {
            return json_pack("{sI sI}", "sec", ros_whole(sec), "nanosec", ros_whole(nanosec));
        }
        refuse(at, "a time {sec, nanosec}, {secs, nsecs} or \"now\" is needed");
        return NULL;
    }
    bool is_right = strcmp(type, "string") == 0 ? json_is_string(value)
                    : strcmp(type, "bool") == 0 ? json_is_boolean(value)
                                                : json_is_number(value);
    if (!ros_type_is_primitive(type)) {
        return check_message(at, type, value) ? json_incref(value) : NULL;
    }
    if (is_right) {
        return json_incref(value);
    }
    refuse(at, "%s is not a %s", json_is_null(value) ? "null" : "this value", type);
    return NULL;
}

/* Checks each element of an array and returns a new array, or NULL if it is refused. Bytes may be base64. */
static json_t *check_list(check *at, const ros_field *field, json_t *list) {
    if (json_is_string(list) && strcmp(field->type, "uint8") == 0) {
        return json_incref(list);
    }
    if (!json_is_array(list) && !json_is_object(list)) {
        refuse(at, "an array is needed");
        return NULL;
    }
    size_t length = strlen(at->path);
    json_t *checked = json_array();
    for (size_t i = 0; i < list_size(list); i++) {
        json_t *value = list_get(list, i);
        snprintf(at->path + length, sizeof at->path - length, "[%zu]", i);
        json_t *element = NULL;
        if (!value) {
            refuse(at, "an array is needed; this object has no key %zu", i);
        } else {
            element = check_value(at, field->type, value);
        }
        if (!element) {
            json_decref(checked);
            return NULL;
        }
        json_array_append_new(checked, element);
    }
    at->path[length] = '\0';
    return checked;
}

static bool check_field(check *at, const ros_field *field, json_t *message) {
    size_t length = strlen(at->path);
    json_t *value = json_object_get(message, field->name), *replacement = NULL;
    snprintf(at->path + length, sizeof at->path - length, ".%s", field->name);
    if (value) {
        replacement = field->length != 0 ? check_list(at, field, value) : check_value(at, field->type, value);
    } else if (field->length != 0) {
        replacement = json_array();
    } else {
        json_t *standard = strcmp(field->name, "stamp") == 0 ? ros_time_now(false) : standard_of(field->type);
        replacement = check_value(at, field->type, standard);
        json_decref(standard);
    }
    if (!replacement) {
        return false;
    }
    json_object_set_new(message, field->name, replacement);
    at->path[length] = '\0';
    return true;
}

/* Checks a message. Drops the sequence number of headers of ROS 1, since publishers there count by themselves. */
static bool check_message(check *at, const char *type, json_t *message) {
    if (!json_is_object(message)) {
        return refuse(at, "a %s is needed", type);
    }
    if (strcmp(type, "std_msgs/msg/Header") == 0) {
        json_object_del(message, "seq");
    }
    ros_field field;
    size_t fields = 0;
    while (ros_type_field(type, fields, &field)) {
        if (!check_field(at, &field, message)) {
            return false;
        }
        fields++;
    }
    const char *key;
    json_t *value;
    json_object_foreach(message, key, value) {
        bool is_known = false;
        for (size_t i = 0; !is_known && ros_type_field(type, i, &field); i++) {
            is_known = strcmp(field.name, key) == 0;
        }
        if (!is_known) {
            return refuse(at, "%s has no field \"%.64s\"", type, key);
        }
    }
    return true;
}

bool ros_complete(const char *type, json_t *message, const char *root, char *error) {
    check at = {.error = error};
    snprintf(at.path, sizeof at.path, "%s", root);
    if (!ros_type_is_known(type)) {
        return json_is_object(message) || refuse(&at, "an object is needed");
    }
    return check_message(&at, type, message);
}
