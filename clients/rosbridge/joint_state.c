/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Converts JointState in arguments to the fields of the request.
 */
#include "joint_state.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json_list.h"

static const char ignore_member[] = "ignore_extra_joints";

/* State of a conversion. */
typedef struct conversion {
    char *error;
    bool failed;
    const coordinates *known;             /* names outside these are left out; NULL: none are */
    json_t *names;                        /* names of the first state, in its order */
    json_t *position, *velocity, *effort; /* rows of the states that were read */
    bool has_velocity, has_effort;
    char path[JOINT_STATE_PATH_SIZE]; /* path of the present state */
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

/* Returns the index of a name in the first state, or SIZE_MAX. `index` is that of the name in its own state: most
 * states have the order of the first one. */
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

/* Stores the names of the first state, without those that are left out. Refuses the state if none remains. */
static void begin_names(conversion *of, const json_t *names) {
    of->names = json_array();
    for (size_t i = 0; i < json_array_size(names); i++) {
        json_t *name = json_array_get(names, i);
        if (!of->known || coordinates_find(of->known, json_string_value(name), i)) {
            json_array_append(of->names, name);
        }
    }
    if (json_array_size(of->names) == 0) {
        refuse(of, ".name: none of %zu names is a joint of the model, such as \"%.64s\"", json_array_size(names),
               of->known->list[0].name);
    }
}

/* Stores for each name its index in the first state, or SIZE_MAX for a name that is left out. Refuses a state that
 * names a joint twice, or whose joints are not those of the first state. */
static void arrange_names(conversion *of, const json_t *names, size_t *places, bool *is_named) {
    size_t named = 0;
    for (size_t i = 0; i < json_array_size(names) && !of->failed; i++) {
        const char *name = json_string_value(json_array_get(names, i));
        places[i] = place_of(of, name, i);
        if (places[i] != SIZE_MAX && !is_named[places[i]]) {
            is_named[places[i]] = true;
            named++;
        } else if (places[i] != SIZE_MAX) {
            refuse(of, ".name[%zu]: joint \"%.64s\" is named twice", i, name);
        } else if (!of->known || coordinates_find(of->known, name, i)) {
            refuse(of, ".name[%zu]: the first state has no joint \"%.64s\"", i, name);
        }
    }
    for (size_t i = 0; i < json_array_size(of->names) && named < json_array_size(of->names); i++) {
        if (!is_named[i]) {
            refuse(of, ".name: joint \"%.64s\" of the first state is missing",
                   json_string_value(json_array_get(of->names, i)));
        }
    }
}

/* Checks the names of a state and refuses wrong ones. Returns an array with the index of each name in the first state
 * (SIZE_MAX: left out), or NULL; the caller frees it. */
static size_t *read_names(conversion *of, const json_t *state) {
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
    if (!of->failed && !of->names) {
        begin_names(of, names);
    }
    if (of->failed) {
        return NULL;
    }
    size_t *places = calloc(count, sizeof *places);
    bool *is_named = calloc(json_array_size(of->names), sizeof *is_named);
    if (places && is_named) {
        arrange_names(of, names, places, is_named);
    } else {
        refuse(of, ": out of memory (RESOURCE_EXHAUSTED)");
    }
    free(is_named);
    return places;
}

/* Appends one row in the order of the first state; missing or empty values become zeros. Returns true if the state has
 * values. */
static bool read_row(conversion *of, const json_t *state, const char *member, const size_t *places, json_t *rows) {
    const json_t *values = json_object_get(state, member);
    size_t value_count = list_size(values), start = json_array_size(rows);
    size_t count = json_array_size(json_object_get(state, "name"));
    if (value_count != 0 && value_count != count) {
        refuse(of, ".%s: %zu values for %zu names", member, value_count, count);
    }
    for (size_t i = 0; i < json_array_size(of->names) && !of->failed; i++) {
        json_array_append_new(rows, json_real(0));
    }
    for (size_t i = 0; i < value_count && !of->failed; i++) {
        json_t *value = list_get(values, i);
        if (places[i] == SIZE_MAX) {
            continue;
        }
        if (!json_is_number(value)) {
            refuse(of, ".%s[%zu]: %s is not a number", member, i, json_is_null(value) ? "null" : "this value");
        } else {
            json_array_set(rows, start + places[i], value);
        }
    }
    return value_count > 0;
}

static void read_state(conversion *of, const json_t *state) {
    if (!json_is_object(state)) {
        refuse(of, ": a sensor_msgs/JointState is needed");
        return;
    }
    size_t *places = read_names(of, state);
    if (!of->failed && !read_row(of, state, "position", places, of->position)) {
        refuse(of, ".position: a number for each name is needed");
    }
    of->has_velocity |= !of->failed && read_row(of, state, "velocity", places, of->velocity);
    of->has_effort |= !of->failed && read_row(of, state, "effort", places, of->effort);
    free(places);
}

/* Sets a field of the request, unless the request has no such field. Refuses arguments that also hold a value of the
 * field. */
static void set_field(conversion *of, const ProtobufCMessageDescriptor *type, json_t *arguments, const char *name,
                      json_t *value) {
    if (!has_field(type, name)) {
        return;
    }
    if (list_size(json_object_get(arguments, name)) > 0) {
        refuse(of, ": send either joint_state or %s", name);
    } else {
        json_object_set(arguments, name, value);
    }
}

const json_t *joint_state_query(const json_t *query) {
    return json_is_array(query) && json_array_size(query) == 1 ? json_array_get(query, 0) : query;
}

/* Sets the order of joints in a copy of the request's query. */
static void set_names(conversion *of, json_t *arguments) {
    const json_t *original = joint_state_query(json_object_get(arguments, "query"));
    json_t *query = json_is_object(original) ? json_copy((json_t *)original) : json_object();
    if (original && !json_is_object(original)) {
        refuse(of, ".query: an object is needed");
    } else if (list_size(json_object_get(query, "joint_names")) > 0) {
        refuse(of, ": send either joint_state or query.joint_names");
    }
    json_object_set(query, "joint_names", of->names);
    json_object_set_new(arguments, "query", query);
}

/* Returns the states in the arguments, or NULL if there are none. `is_bare` reports whether the arguments themselves
 * are the state. */
static json_t *states_in(const ProtobufCMessageDescriptor *type, const json_t *arguments, bool *is_bare) {
    json_t *whole = json_object_get(arguments, "joint_state");
    *is_bare = !whole && json_object_get(arguments, "name") && json_object_get(arguments, "position") &&
               !has_field(type, "name");
    return !joint_state_is_accepted(type) ? NULL : *is_bare ? (json_t *)arguments : whole;
}

/* Writes the path of the state at an index: of an array, of a single state, or of the arguments themselves. */
static void write_path(const json_t *states, bool is_bare, size_t index, char path[JOINT_STATE_PATH_SIZE]) {
    if (json_is_array(states)) {
        snprintf(path, JOINT_STATE_PATH_SIZE, "args.joint_state[%zu]", index);
    } else {
        snprintf(path, JOINT_STATE_PATH_SIZE, is_bare ? "args" : "args.joint_state");
    }
}

void joint_state_path(const ProtobufCMessageDescriptor *type, const json_t *arguments,
                      char path[JOINT_STATE_PATH_SIZE]) {
    bool is_bare;
    const json_t *states = states_in(type, arguments, &is_bare);
    path[0] = '\0';
    if (states && (!json_is_array(states) || json_array_size(states) > 0)) {
        write_path(states, is_bare, 0, path);
        strcat(path, ".name");
    }
}

void joint_state_rename(const char *path, char error[METHOD_ERROR_SIZE]) {
    static const char own[] = "args.query.joint_names";
    char text[METHOD_ERROR_SIZE];
    if (path[0] != '\0' && strncmp(error, own, sizeof own - 1) == 0) {
        snprintf(text, sizeof text, "%s", error + sizeof own - 1);
        snprintf(error, METHOD_ERROR_SIZE, "%.64s%.*s", path, METHOD_ERROR_SIZE - JOINT_STATE_PATH_SIZE - 1, text);
    }
}

/* Returns true if a name is that of a joint with several coordinates, such as "root_joint[0]". */
static bool has_part(const char *name) {
    const char *bracket = strrchr(name, '[');
    size_t digits = bracket ? strspn(bracket + 1, "0123456789") : 0;
    return digits > 0 && strcmp(bracket + 1 + digits, "]") == 0;
}

bool joint_state_needs_joints(const ProtobufCMessageDescriptor *type, const json_t *arguments) {
    bool is_bare;
    const json_t *states = states_in(type, arguments, &is_bare);
    const json_t *first = json_is_array(states) ? json_array_get(states, 0) : states;
    const json_t *names = json_object_get(first, "name");
    bool is_needed = first && json_is_true(json_object_get(arguments, ignore_member));
    for (size_t i = 0; i < json_array_size(names) && !is_needed; i++) {
        const char *name = json_string_value(json_array_get(names, i));
        is_needed = name && has_part(name);
    }
    return is_needed;
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

/* Converts the rows from the order of the names to the model's own order, and clears the names. */
static void use_own_order(conversion *of, const coordinates *joints) {
    char path[sizeof of->path + 8];
    snprintf(path, sizeof path, "%s.name", of->path);
    const coordinate **places = coordinates_arrange(joints, of->names, false, path, of->error);
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

/* Reads the option for extra joints. Returns false for a value that is not a boolean. */
static bool read_option(const json_t *arguments, const coordinates *joints, conversion *to) {
    const json_t *option = json_object_get(arguments, ignore_member);
    if (option && !json_is_boolean(option) && !json_is_null(option)) {
        snprintf(to->path, sizeof to->path, "args.%s", ignore_member);
        refuse(to, ": true or false is needed");
        return false;
    }
    to->known = json_is_true(option) ? joints : NULL;
    return true;
}

/* Reads one state, or each of an array, up to the first that is refused. */
static void read_states(conversion *of, const json_t *states, bool is_bare) {
    size_t count = json_is_array(states) ? json_array_size(states) : 1;
    for (size_t i = 0; i < count && !of->failed; i++) {
        write_path(states, is_bare, i, of->path);
        read_state(of, json_is_array(states) ? json_array_get(states, i) : states);
    }
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
    if (read_option(arguments, joints, &of)) {
        read_states(&of, states, is_bare);
    }
    if (!of.failed && of.names && joints && joints->has_parts) {
        use_own_order(&of, joints);
    }
    snprintf(of.path, sizeof of.path, "args");
    static const char *const members[] = {"header", "name",        "position",   "velocity",
                                          "effort", ignore_member, "joint_state"};
    for (size_t i = is_bare ? 0 : 5; i < 7; i++) {
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
