/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Parses one state from a JSON object.
 */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "state_parsers.h"

const char *const REFERENCE_FRAME_NAMES[REFERENCE_FRAMES] = {"local", "world", "local_world_aligned"};

static const char *kind_of(const json_t *value) {
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        return "an object";
    case JSON_ARRAY:
        return "an array";
    case JSON_STRING:
        return "a string";
    case JSON_NULL:
        return "null";
    case JSON_TRUE:
    case JSON_FALSE:
        return "true or false";
    default:
        return "a number";
    }
}

/* Reads an array of `count` numbers. `of` is the subject of the count in error messages. On failure writes a message
 * and returns false. */
static bool read_numbers(const json_t *value, const char *field, size_t count, const char *of, double *numbers,
                         char message[PARSE_MESSAGE_SIZE]) {
    if (!json_is_array(value)) {
        return refuse(message, "%s: %s, but an array of numbers is needed", field, kind_of(value));
    }
    if (json_array_size(value) != count) {
        return refuse(message, "%s: %zu values, but %s has %zu", field, json_array_size(value), of, count);
    }
    for (size_t i = 0; i < count; i++) {
        const json_t *number = json_array_get(value, i);
        if (!json_is_number(number)) {
            return refuse(message, "%s[%zu]: %s, but a number is needed", field, i, kind_of(number));
        }
        numbers[i] = json_number_value(number);
    }
    return true;
}

/* ---- external forces --------------------------------------------------------------------------------------------- */

static bool read_frame(const json_t *value, const char *field, dyn_client_reference_frame *frame,
                       char message[PARSE_MESSAGE_SIZE]) {
    const char *name = json_string_value(value);
    for (int i = 0; name && i < REFERENCE_FRAMES; i++) {
        if (strcmp(name, REFERENCE_FRAME_NAMES[i]) == 0) {
            *frame = (dyn_client_reference_frame)(i + DYN_CLIENT_REFERENCE_FRAME_LOCAL);
            return true;
        }
    }
    return refuse(message, "%s.reference_frame: pass \"local\", \"world\" or \"local_world_aligned\"", field);
}

static bool read_force(state_batch *batch, json_t *object, const char *field, char message[PARSE_MESSAGE_SIZE]) {
    const char *link = NULL, *key;
    dyn_client_reference_frame frame = DYN_CLIENT_REFERENCE_FRAME_LOCAL;
    double force[3] = {0}, torque[3] = {0};
    json_t *value;
    if (!json_is_object(object)) {
        return refuse(message, "%s: %s, but an object is needed", field, kind_of(object));
    }
    json_object_foreach(object, key, value) {
        char path[96];
        snprintf(path, sizeof path, "%s.%.16s", field, key);
        bool read = true;
        if (strcmp(key, "link") == 0) {
            link = json_string_value(value);
        } else if (strcmp(key, "reference_frame") == 0) {
            read = read_frame(value, field, &frame, message);
        } else if (strcmp(key, "force") == 0) {
            read = read_numbers(value, path, 3, "a force", force, message);
        } else if (strcmp(key, "torque") == 0) {
            read = read_numbers(value, path, 3, "a torque", torque, message);
        } else {
            read =
                refuse(message, "%s: unknown key \"%.64s\": it has link, reference_frame, force, torque", field, key);
        }
        if (!read) {
            return false;
        }
    }
    if (!link) {
        return refuse(message, "%s.link: the name of a link is needed", field);
    }
    return state_batch_add_force(batch, link, frame, force, torque) || refuse(message, "out of memory");
}

static bool read_forces(state_batch *batch, json_t *list, char message[PARSE_MESSAGE_SIZE]) {
    if (!json_is_array(list)) {
        return refuse(message, "external_forces: %s, but an array of objects is needed", kind_of(list));
    }
    for (size_t i = 0; i < json_array_size(list); i++) {
        char field[48];
        snprintf(field, sizeof field, "external_forces[%zu]", i);
        if (!read_force(batch, json_array_get(list, i), field, message)) {
            return false;
        }
    }
    return true;
}

/* ---- state ------------------------------------------------------------------------------------------------------- */

/* Returns the array of a state by its name, or STATE_ARRAYS if there is none. */
static state_array find_array(const char *name) {
    int i = 0;
    while (i < STATE_ARRAYS && strcmp(name, STATE_ARRAY_NAMES[i]) != 0) {
        i++;
    }
    return (state_array)i;
}

static bool read_member(state_batch *batch, const char *key, json_t *value, char message[PARSE_MESSAGE_SIZE]) {
    if (strcmp(key, "external_forces") == 0) {
        return read_forces(batch, value, message);
    }
    state_array array = find_array(key);
    if (array == STATE_ARRAYS) {
        return refuse(message, "unknown key \"%.64s\": a state has q, v, a, tau, external_forces", key);
    }
    return read_numbers(value, key, batch->width[array], batch->robot->robot->model.name, state_batch_row(batch, array),
                        message);
}

bool parse_json_state(state_batch *batch, const char *text, size_t length, char message[PARSE_MESSAGE_SIZE]) {
    json_error_t error;
    json_t *object = json_loadb(text, length, JSON_REJECT_DUPLICATES, &error);
    if (!object) {
        return refuse(message, "not JSON: %s, at column %d", error.text, error.column);
    }
    bool read = true;
    const char *key;
    json_t *value;
    if (!json_is_object(object)) {
        read = refuse(message, "%s, but an object {\"q\": [..], ..} is needed", kind_of(object));
    } else if (!json_object_get(object, "q")) {
        read = refuse(message, "q: missing");
    }
    if (read) {
        json_object_foreach(object, key, value) {
            read = read_member(batch, key, value, message);
            if (!read) {
                break;
            }
        }
    }
    json_decref(object);
    return read;
}
