/* SPDX-License-Identifier: BSD-2-Clause */
/* Inserts, finds and removes reference-counted objects in an array sorted by name. */
#include "simulations/name_table.h"

#include <stdlib.h>
#include <string.h>

void name_table_init(name_table *table, void (*retain)(void *value), void (*release)(void *value)) {
    *table = (name_table){.retain = retain, .release = release};
    pthread_mutex_init(&table->mutex, NULL);
}

void name_table_free(name_table *table) {
    for (size_t i = 0; i < table->count; i++) {
        table->release(table->entries[i].value);
    }
    free(table->entries);
    pthread_mutex_destroy(&table->mutex);
}

/* Returns the index of a name or, with `is_there` false, the index at which to insert it. */
static size_t place_of(const name_table *table, const char *name, bool *is_there) {
    size_t low = 0, high = table->count;
    *is_there = false;
    while (low < high && !*is_there) {
        size_t middle = (low + high) / 2;
        int order = strcmp(name, table->entries[middle].name);
        *is_there = order == 0;
        if (order <= 0) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return high;
}

static bool reserve(name_table *table) {
    if (table->count < table->capacity) {
        return true;
    }
    size_t capacity = table->capacity ? 2 * table->capacity : 16;
    name_entry *entries = realloc(table->entries, capacity * sizeof *entries);
    if (entries) {
        table->entries = entries;
        table->capacity = capacity;
    }
    return entries != NULL;
}

/* Returns whether the table has as many values like this one as the share allows. */
static bool is_share_full(const name_table *table, const void *value, const name_share *share) {
    size_t count = 0;
    for (size_t i = 0; share && i < table->count; i++) {
        count += share->is_alike(table->entries[i].value, value);
    }
    return share && count >= share->most;
}

static name_insertion insert(name_table *table, const char *name, void *value, size_t most, const name_share *share) {
    bool is_there;
    size_t place = place_of(table, name, &is_there);
    if (is_there) {
        return NAME_TAKEN;
    }
    if (table->count >= most) {
        return NAME_TABLE_FULL;
    }
    if (is_share_full(table, value, share)) {
        return NAME_SHARE_FULL;
    }
    if (!reserve(table)) {
        return NAME_NO_MEMORY;
    }
    memmove(table->entries + place + 1, table->entries + place, (table->count - place) * sizeof *table->entries);
    table->entries[place] = (name_entry){name, value};
    table->count++;
    table->retain(value);
    return NAME_INSERTED;
}

name_insertion name_table_insert(name_table *table, const char *name, void *value, size_t most,
                                 const name_share *share) {
    pthread_mutex_lock(&table->mutex);
    name_insertion result = insert(table, name, value, most, share);
    pthread_mutex_unlock(&table->mutex);
    return result;
}

void *name_table_find(name_table *table, const char *name) {
    bool is_there;
    pthread_mutex_lock(&table->mutex);
    size_t place = place_of(table, name, &is_there);
    void *value = is_there ? table->entries[place].value : NULL;
    if (value) {
        table->retain(value);
    }
    pthread_mutex_unlock(&table->mutex);
    return value;
}

void *name_table_search(name_table *table, bool (*is_wanted)(const void *value, const void *context),
                        const void *context) {
    void *value = NULL;
    pthread_mutex_lock(&table->mutex);
    for (size_t i = 0; !value && i < table->count; i++) {
        value = is_wanted(table->entries[i].value, context) ? table->entries[i].value : NULL;
    }
    if (value) {
        table->retain(value);
    }
    pthread_mutex_unlock(&table->mutex);
    return value;
}

bool name_table_remove(name_table *table, const char *name, const void *value) {
    bool is_there;
    void *removed = NULL;
    pthread_mutex_lock(&table->mutex);
    size_t place = place_of(table, name, &is_there);
    if (is_there && table->entries[place].value == value) {
        removed = table->entries[place].value;
        table->count--;
        memmove(table->entries + place, table->entries + place + 1, (table->count - place) * sizeof *table->entries);
    }
    pthread_mutex_unlock(&table->mutex);
    if (removed) {
        table->release(removed);
    }
    return removed != NULL;
}

bool name_table_list(name_table *table, void ***values, size_t *count) {
    pthread_mutex_lock(&table->mutex);
    *count = table->count;
    *values = malloc((table->count ? table->count : 1) * sizeof **values);
    for (size_t i = 0; *values && i < table->count; i++) {
        (*values)[i] = table->entries[i].value;
        table->retain((*values)[i]);
    }
    pthread_mutex_unlock(&table->mutex);
    return *values != NULL;
}

void name_table_release_list(name_table *table, void **values, size_t count) {
    for (size_t i = 0; i < count; i++) {
        table->release(values[i]);
    }
    free(values);
}

size_t name_table_count(name_table *table) {
    pthread_mutex_lock(&table->mutex);
    size_t count = table->count;
    pthread_mutex_unlock(&table->mutex);
    return count;
}
