/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counted things by name, in the order of their names. Every function may be called from any thread.
 */
#ifndef SERVER_SIMULATIONS_NAME_TABLE_H
#define SERVER_SIMULATIONS_NAME_TABLE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct name_entry {
    const char *name; /* the value's own */
    void *value;
} name_entry;

typedef struct name_table {
    pthread_mutex_t mutex;
    name_entry *entries;
    size_t count, capacity;
    void (*retain)(void *value);
    void (*release)(void *value);
} name_table;

void name_table_init(name_table *table, void (*retain)(void *value), void (*release)(void *value));

/* Releases all values. */
void name_table_free(name_table *table);

typedef enum name_insertion { NAME_INSERTED, NAME_TAKEN, NAME_TABLE_FULL, NAME_NO_MEMORY } name_insertion;

/* Puts a value in, with a reference of its own, unless there are `most` already. */
name_insertion name_table_insert(name_table *table, const char *name, void *value, size_t most);

/* A reference to the value of that name, or NULL. */
void *name_table_find(name_table *table, const char *name);

/* A reference to the first value for which `is_wanted` is true, or NULL. */
void *name_table_search(name_table *table, bool (*is_wanted)(const void *value, const void *context),
                        const void *context);

/* Takes a value out and releases the table's reference; false when it was not in. */
bool name_table_remove(name_table *table, const char *name, const void *value);

/* References to all values, in an array that name_table_release_list frees. False when out of memory. */
bool name_table_list(name_table *table, void ***values, size_t *count);
void name_table_release_list(name_table *table, void **values, size_t count);

size_t name_table_count(name_table *table);

#endif
