/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Conversion of JointState in arguments.
 */
#include "joint_state.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json_list.h"
#include "method_error.h"

/* Progress of a conversion. */
typedef struct conversion {
    char *error;
    bool failed;
    json_t *names;                        /* of the first state */
    json_t *position, *velocity, *effort; /* rows of the states that were read */
    bool has_velocity, has_effort;
    char path[64]; /* of the state */
} conversion;

static void refuse(conversion *of, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void refuse(conversion *of, const char *format, ...) {
    if (of->failed) {
        return;
    }
    of->failed = true;
    int written = snprintf(of->error, METHOD_ERROR_SIZE, "%s", of->path);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(of->error + written, METHOD_ERROR_SIZE - (size_t)written, format, arguments);
    va_end(arguments);
}

static bool has_field(const ProtobufCMessageDescriptor *type, const char *name) {
    return protobuf_c_message_descriptor_get_field_by_name(type, name) != NULL;
}

bool joint_state_is_accepted(const ProtobufCMessageDescriptor *type) {
    return has_field(type, "query") && has_field(type, "q");
}

/* Returns the index in the first state of the name that this state has at `index`. Most states have it at the same
 * index. */
static size_t place_of(const conversion *of, const char *name, size_t index) {
    const char *same = json_string_value(json_array_get(of->names, index));
    if (same && strcmp(same, name) == 0) {
        return index;
    }
    for (size_t i = 0; i < json_array_size(of->names); i++) {
        if (strcmp(json_string_value(json_array_get(of->names, i)), name) == 0) {
            return i;
        }
    }
    return SIZE_MAX;
}

/* Checks the names of a state. Those of a later state must be those of the first. */
static size_t read_names(conversion *of, const json_t *state) {
    const json_t *names = json_object_get(state, "name");
    size_t count = json_array_size(names);
    if (!json_is_array(names) || count == 0) {
        refuse(of, ".name: an array of the names of all moving joints is needed");
    }
    for (size_t i = 0; i < count && !of->failed; i++) {
        if (!json_is_string(json_array_get(names, i))) {
            refuse(of, ".name[%zu]: a string is needed", i);
        }
    }
    if (!of->names) {
        of->names = json_deep_copy(names);
    } else if (json_array_size(of->names) != count) {
        refuse(of, ".name: %zu names, but the first state has %zu", count, json_array_size(of->names));
    }
    for (size_t i = 0; i < count && !of->failed; i++) {
        if (place_of(of, json_string_value(json_array_get(names, i)), i) == SIZE_MAX) {
            refuse(of, ".name[%zu]: the first state has no joint \"%.64s\"", i,
                   json_string_value(json_array_get(names, i)));
        }
    }
    return count;
}

/* Appends one row in the order of the first state; missing or empty values become zeros. Returns true if there was a
 * row. */
static bool read_row(conversion *of, const json_t *state, const char *member, size_t count, json_t *rows) {
    const json_t *values = json_object_get(state, member), *names = json_object_get(state, "name");
    size_t given = list_size(values), start = json_array_size(rows);
    if (given != 0 && given != count) {
        refuse(of, ".%s: %zu values for %zu names", member, given, count);
    }
    for (size_t i = 0; i < count && !of->failed; i++) {
        json_array_append_new(rows, json_real(0));
    }
    for (size_t i = 0; i < given && !of->failed; i++) {
        json_t *value = list_get(values, i);
        if (!json_is_number(value)) {
            refuse(of, ".%s[%zu]: %s is not a number", member, i, json_is_null(value) ? "null" : "this value");
        } else {
            json_array_set(rows, start + place_of(of, json_string_value(json_array_get(names, i)), i), value);
        }
    }
    return given > 0;
}

static void read_state(conversion *of, const json_t *state) {
    if (!json_is_object(state)) {
        refuse(of, ": a sensor_msgs/JointState is needed");
        return;
    }
    size_t count = read_names(of, state);
    if (!of->failed && !read_row(of, state, "position", count, of->position)) {
        refuse(of, ".position: a number for each name is needed");
    }
    of->has_velocity |= !of->failed && read_row(of, state, "velocity", count, of->velocity);
    of->has_effort |= !of->failed && read_row(of, state, "effort", count, of->effort);
}

/* Sets a field of the request, which must not be present beside the states. */
static void set_field(conversion *of, const ProtobufCMessageDescriptor *type, json_t *arguments, const char *name,
                      json_t *value) {
    if (!has_field(type, name)) {
        return;
    }
    if (list_size(json_object_get(arguments, name)) > 0) {
        refuse(of, ": give either joint_state or %s", name);
    } else {
        json_object_set(arguments, name, value);
    }
}

const json_t *joint_state_query(const json_t *given) {
    return json_is_array(given) && json_array_size(given) == 1 ? json_array_get(given, 0) : given;
}

/* Sets the order of joints in a copy of the request's query. */
static void set_names(conversion *of, json_t *arguments) {
    const json_t *given = joint_state_query(json_object_get(arguments, "query"));
    json_t *query = json_is_object(given) ? json_copy((json_t *)given) : json_object();
    if (given && !json_is_object(given)) {
        refuse(of, ".query: an object is needed");
    } else if (list_size(json_object_get(query, "joint_names")) > 0) {
        refuse(of, ": give either joint_state or query.joint_names");
    }
    json_object_set(query, "joint_names", of->names);
    json_object_set_new(arguments, "query", query);
}

/* Returns the states in the arguments, or NULL if there are none. */
static json_t *states_in(const ProtobufCMessageDescriptor *type, const json_t *arguments, bool *is_bare) {
    json_t *whole = json_object_get(arguments, "joint_state");
    *is_bare = !whole && json_object_get(arguments, "name") && json_object_get(arguments, "position") &&
               !has_field(type, "name");
    return !joint_state_is_accepted(type) ? NULL : *is_bare ? (json_t *)arguments : whole;
}

bool joint_state_has_parts(const ProtobufCMessageDescriptor *type, const json_t *arguments) {
    bool is_bare;
    const json_t *states = states_in(type, arguments, &is_bare);
    const json_t *names = json_object_get(json_is_array(states) ? json_array_get(states, 0) : states, "name");
    for (size_t i = 0; i < json_array_size(names); i++) {
        const char *name = json_string_value(json_array_get(names, i));
        const char *bracket = name ? strrchr(name, '[') : NULL;
        size_t digits = bracket ? strspn(bracket + 1, "0123456789") : 0;
        if (digits > 0 && strcmp(bracket + 1 + digits, "]") == 0) {
            return true;
        }
    }
    return false;
}

/* Converts rows with one value for each name into rows of q or v. Releases the old rows. */
static json_t *spread(json_t *rows, const coordinates *joints, const coordinate *const *places, bool is_q) {
    size_t width = is_q ? joints->nq : joints->nv, count = joints->count;
    json_t *spread = json_array();
    for (size_t i = 0; i < json_array_size(rows) / count * width; i++) {
        json_array_append_new(spread, json_null());
    }
    for (size_t i = 0; i < json_array_size(rows); i++) {
        size_t place = is_q ? places[i % count]->q : places[i % count]->v;
        if (place != SIZE_MAX) {
            json_array_set(spread, i / count * width + place, json_array_get(rows, i));
        }
    }
    json_decref(rows);
    return spread;
}

/* Replaces the order of the names by the model's own order. */
static void use_own_order(conversion *of, const coordinates *joints) {
    char path[sizeof of->path + 8];
    snprintf(path, sizeof path, "%s.name", of->path);
    const coordinate **places = coordinates_arrange(joints, of->names, path, of->error);
    of->failed = !places;
    if (of->failed) {
        return;
    }
    of->position = spread(of->position, joints, places, true);
    of->velocity = spread(of->velocity, joints, places, false);
    of->effort = spread(of->effort, joints, places, false);
    json_array_clear(of->names);
    free(places);
}

bool joint_state_convert(const ProtobufCMessageDescriptor *type, json_t *arguments, const coordinates *joints,
                         char *error) {
    bool is_bare;
    json_t *states = states_in(type, arguments, &is_bare);
    if (!states) {
        return true;
    }
    json_incref(states);
    conversion of = {.error = error, .position = json_array(), .velocity = json_array(), .effort = json_array()};
    if (!json_is_array(states)) {
        snprintf(of.path, sizeof of.path, is_bare ? "args" : "args.joint_state");
        read_state(&of, states);
    }
    for (size_t i = 0; i < json_array_size(states) && !of.failed; i++) {
        snprintf(of.path, sizeof of.path, "args.joint_state[%zu]", i);
        read_state(&of, json_array_get(states, i));
    }
    if (!of.failed && of.names && joints && joints->has_parts) {
        use_own_order(&of, joints);
    }
    snprintf(of.path, sizeof of.path, "args");
    static const char *const members[] = {"header", "name", "position", "velocity", "effort", "joint_state"};
    for (size_t i = is_bare ? 0 : 5; i < 6; i++) {
        json_object_del(arguments, members[i]);
    }
    if (!of.failed && of.names) {
        set_names(&of, arguments);
        set_field(&of, type, arguments, "q", of.position);
        if (of.has_velocity) {
            set_field(&of, type, arguments, "v", of.velocity);
        }
        if (of.has_effort) {
            set_field(&of, type, arguments, "tau", of.effort);
        }
    }
    json_decref(states);
    json_decref(of.names);
    json_decref(of.position);
    json_decref(of.velocity);
    json_decref(of.effort);
    return !of.failed;
}
