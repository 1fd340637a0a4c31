/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Index of numbers by name, on the search tree of the C library (tsearch).
 */
#include "name_index.h"

#include <search.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Node of the tree. The tree holds pointers to `name`, so that a plain string serves as a key. */
typedef struct named_number {
    int number;
    char name[];
} named_number;

static int compare_names(const void *a, const void *b) {
    return strcmp(a, b);
}

static named_number *named_of(const char *name) {
    return (named_number *)(void *)((char *)name - offsetof(named_number, name));
}

static void free_named(void *name) {
    free(named_of(name));
}

const char *name_index_add(name_index *index, const char *name, int number) {
    size_t size = strlen(name) + 1;
    named_number *added = malloc(sizeof *added + size);
    if (!added) {
        return NULL;
    }
    added->number = number;
    memcpy(added->name, name, size);
    if (!tsearch(added->name, &index->root, compare_names)) {
        free(added);
        return NULL;
    }
    return added->name;
}

int name_index_find(const name_index *index, const char *name) {
    char *const *found = tfind(name, &index->root, compare_names);
    return found ? named_of(*found)->number : -1;
}

void name_index_clear(name_index *index) {
    tdestroy(index->root, free_named);
    index->root = NULL;
}
