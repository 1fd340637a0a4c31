/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads values of coordinates from the command line.
 */
#include "coordinate_values.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "suggestion.h"

/* State of reading: the coordinates of q or v, the values that are set so far, and the buffer for an error message. */
typedef struct reading {
    const layout *robot;
    const coordinate *coordinates;
    size_t count;
    bool is_q;
    double *values;
    bool *is_set;
    char *message;
    size_t message_size;
} reading;

bool coordinate_values_are_named(const char *text) {
    return strchr(text, '=') != NULL;
}

/* Writes why a name is not that of a coordinate: the name is unknown, or it is a joint with several coordinates.
 * Returns false. */
static bool refuse_name(const reading *r, const char *name) {
    const char *model = r->robot->robot->model.name;
    suggestion meant = {.wanted = name, .length = strlen(name)};
    for (size_t i = 0; i < r->count; i++) {
        if (strcmp(r->coordinates[i].joint->name, name) == 0) {
            snprintf(r->message, r->message_size, "joint \"%s\" has several coordinates; name one, such as \"%s\"",
                     name, r->coordinates[i].name);
            return false;
        }
        suggestion_consider(&meant, r->coordinates[i].name);
    }
    snprintf(r->message, r->message_size, "%s has no moving joint \"%.64s\"%s%s%s (see dynamicsctl describe %s)", model,
             name, meant.closest ? "; did you mean \"" : "", meant.closest ? meant.closest : "",
             meant.closest ? "\"?" : "", model);
    return false;
}

/* Sets the coordinate of an entry "NAME=X". On failure writes a message and returns false. */
static bool read_entry(const reading *r, char *entry) {
    char *equals = strchr(entry, '=');
    if (!equals) {
        snprintf(r->message, r->message_size, "\"%.64s\" has no name: pass NAME=X for each, or %zu values", entry,
                 r->count);
        return false;
    }
    *equals = '\0';
    size_t i = 0;
    while (i < r->count && strcmp(r->coordinates[i].name, entry) != 0) {
        i++;
    }
    if (i == r->count) {
        return refuse_name(r, entry);
    }
    if (r->is_set[i]) {
        snprintf(r->message, r->message_size, "\"%.64s\" is there twice", entry);
        return false;
    }
    r->is_set[i] = true;
    if (!parse_number(equals + 1, &r->values[i])) {
        snprintf(r->message, r->message_size, "%.64s: \"%.64s\" is not a finite number", entry, equals + 1);
        return false;
    }
    return true;
}

/* Reads a number for each coordinate. On failure writes a message and returns false. */
static bool read_all(const reading *r, const char *text) {
    char message[128];
    if (parse_numbers(text, r->count, r->values, message, sizeof message)) {
        return true;
    }
    const char *model = r->robot->robot->model.name;
    snprintf(r->message, r->message_size, "%s (%s has n%c = %zu; see dynamicsctl describe %s)", message, model,
             r->is_q ? 'q' : 'v', r->count, model);
    return false;
}

bool coordinate_values_read(const layout *robot, bool is_q, const char *text, double *values, char *message,
                            size_t message_size) {
    reading r = {.robot = robot,
                 .coordinates = is_q ? robot->q : robot->v,
                 .count = is_q ? robot->nq : robot->nv,
                 .is_q = is_q,
                 .values = values,
                 .message = message,
                 .message_size = message_size};
    if (!coordinate_values_are_named(text)) {
        return read_all(&r, text);
    }
    char *copy = strdup(text), *rest = copy;
    r.is_set = calloc(r.count + 1, sizeof *r.is_set);
    bool is_good = copy && r.is_set;
    if (!is_good) {
        snprintf(message, message_size, "out of memory");
    }
    for (char *entry; is_good && (entry = strsep(&rest, ","));) {
        is_good = read_entry(&r, entry);
    }
    free(copy);
    free(r.is_set);
    return is_good;
}
