/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Table of reference-counted objects, sorted by name. Every function may be called from any thread.
 */
#ifndef SERVER_SIMULATIONS_NAME_TABLE_H
#define SERVER_SIMULATIONS_NAME_TABLE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct name_entry {
    const char *name; /* owned by the value */
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

/* Releases all values and frees the table's memory. */
void name_table_free(name_table *table);

typedef enum name_insertion {
    NAME_INSERTED,
    NAME_TAKEN,
    NAME_TABLE_FULL,
    NAME_SHARE_FULL,
    NAME_NO_MEMORY,
} name_insertion;

/* Largest number of values that are alike, such as those of one user. */
typedef struct name_share {
    size_t most;
    bool (*is_alike)(const void *value, const void *inserted);
} name_share;

/* Inserts a value under a name, which must live as long as the value, and takes a reference. Fails if the name is in
 * the table, the table has `most` values, `share` (NULL: none) has no room for another value that is like this one, or
 * memory is exhausted. */
name_insertion name_table_insert(name_table *table, const char *name, void *value, size_t most,
                                 const name_share *share);

/* Returns a reference to the value of that name, or NULL. */
void *name_table_find(name_table *table, const char *name);

/* Returns a reference to the first value for which `is_wanted` is true, or NULL. */
void *name_table_search(name_table *table, bool (*is_wanted)(const void *value, const void *context),
                        const void *context);

/* Removes a value and releases the table's reference. Returns false if the table does not hold that value under that
 * name. */
bool name_table_remove(name_table *table, const char *name, const void *value);

/* Stores references to all values in an array that name_table_release_list frees. Returns false when out of memory. */
bool name_table_list(name_table *table, void ***values, size_t *count);
void name_table_release_list(name_table *table, void **values, size_t count);

size_t name_table_count(name_table *table);

#endif
