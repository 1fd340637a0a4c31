/* SPDX-License-Identifier: BSD-2-Clause */
#include "json_line.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const char *skip_space(const char *at) {
    return at + strspn(at, " \t\r\n");
}

/* Returns the end of a string, whose first quote is at `at`. */
static const char *skip_string(const char *at) {
    for (at++; *at != '\0' && *at != '"'; at++) {
        at += *at == '\\' && at[1] != '\0';
    }
    return *at == '"' ? at + 1 : at;
}

/* Returns the end of a value. */
static const char *skip_value(const char *at) {
    int depth = 0;
    do {
        if (*at == '"') {
            at = skip_string(at);
            continue;
        }
        if (depth == 0 && *at != '[' && *at != '{') {
            return at + strcspn(at, ",]} \t\r\n");
        }
        depth += *at == '[' || *at == '{';
        depth -= *at == ']' || *at == '}';
        at += *at != '\0';
    } while (depth > 0 && *at != '\0');
    return at;
}

/* Returns the next entry of an array or an object after the value that ends at `at`, or NULL after the last. */
static const char *next_entry(const char *at) {
    at = skip_space(at);
    return *at == ',' ? skip_space(at + 1) : NULL;
}

/* Returns the first entry of an array or an object that starts with `bracket`, or NULL. */
static const char *first_entry(const char *at, char bracket) {
    const char *entry = *at == bracket ? skip_space(at + 1) : NULL;
    return entry && *entry != ']' && *entry != '}' ? entry : NULL;
}

/* Returns the value of a member of an object, or NULL. */
static const char *find_member(const char *at, const char *name, size_t length) {
    for (at = first_entry(at, '{'); at && *at == '"'; at = next_entry(skip_value(at))) {
        const char *key = at + 1, *end = skip_string(at);
        bool is_wanted = (size_t)(end - key) == length + 1 && strncmp(key, name, length) == 0;
        at = skip_space(end);
        at = skip_space(at + (*at == ':'));
        if (is_wanted) {
            return at;
        }
    }
    return NULL;
}

/* Returns an entry of an array, or NULL. */
static const char *find_entry(const char *at, size_t index) {
    for (at = first_entry(at, '['); at && index > 0; index--) {
        at = next_entry(skip_value(at));
    }
    return at;
}

size_t json_line_of(const char *text, const char *path) {
    const char *at = skip_space(text), *found = at;
    while (found && *path != '\0') {
        at = found;
        if (*path == '[') {
            char *end;
            found = find_entry(at, strtoul(path + 1, &end, 10));
            path = end + (*end == ']');
        } else {
            size_t length = strcspn(path, ".[");
            found = find_member(at, path, length);
            path += length;
        }
        path += *path == '.';
    }
    at = found ? found : at;
    size_t line = 1;
    for (const char *c = text; c < at; c++) {
        line += *c == '\n';
    }
    return line;
}
