/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads the elements of JSON arrays, and of the objects with the keys 0, 1, 2 ... that JSON.stringify makes of a
 * Float64Array.
 */
#ifndef JSON_JSON_LIST_H
#define JSON_JSON_LIST_H

#include <stdio.h>

#include <jansson.h>

static inline size_t list_size(const json_t *list) {
    return json_is_array(list) ? json_array_size(list) : json_object_size(list);
}

/* Returns element `index` (borrowed), or NULL if the list has no such element. */
static inline json_t *list_get(const json_t *list, size_t index) {
    if (json_is_array(list)) {
        return json_array_get(list, index);
    }
    char key[24];
    snprintf(key, sizeof key, "%zu", index);
    return json_object_get(list, key);
}

#endif
