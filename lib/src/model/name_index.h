/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Index of numbers by name: a balanced tree that owns its names. Look-up costs O(log names) for any names.
 */
#ifndef DYNAMICS_MODEL_NAME_INDEX_H
#define DYNAMICS_MODEL_NAME_INDEX_H

/* Index, empty when all zero. */
typedef struct name_index {
    void *root;
} name_index;

/* Adds a name that is not in the index yet. Returns the index's own copy of it, which lives as long as the index, or
 * NULL out of memory. */
const char *name_index_add(name_index *index, const char *name, int number);

/* Returns the number of a name, or -1. Thread-safe with other look-ups. */
int name_index_find(const name_index *index, const char *name);

/* Frees all names. */
void name_index_clear(name_index *index);

#endif
